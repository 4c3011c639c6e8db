"""The application: storage, routes, refusals and the page, put together."""

from __future__ import annotations

import importlib.metadata
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from fastapi import FastAPI

from impl.metrics_wire.service.access import LocalNamesOnly, TokenRequired, document_token
from impl.metrics_wire.service.commits import commits_of
from impl.metrics_wire.service.database import open_database
from impl.metrics_wire.service.errors import add_error_handlers
from impl.metrics_wire.service.overview import overview_routes
from impl.metrics_wire.service.page import page_routes
from impl.metrics_wire.service.routes import task_routes

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from impl.metrics_wire.service.settings import Settings


def create_app(settings: Settings) -> FastAPI:
    """Build a service over its database, which is brought up to date.

    The database is let go of when the application shuts down, which a test client does at the end of its ``with``.

    Raises:
        DatabaseError: If the database cannot be used.
    """
    engine = open_database(settings.database)
    commits = commits_of(engine)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        yield
        commits.close()
        engine.dispose()

    app = FastAPI(
        title="Jobs service",
        version=importlib.metadata.version("rl-contracts"),
        docs_url=None,  # these two would load scripts from elsewhere
        redoc_url=None,
        redirect_slashes=False,
        lifespan=lifespan,
    )
    app.include_router(task_routes(engine, commits, settings))
    app.include_router(overview_routes(engine, settings))

    app.include_router(page_routes(engine))
    add_error_handlers(app)
    if settings.token is not None:
        app.add_middleware(TokenRequired, token=settings.token)
        document_token(app)
    elif settings.is_local:
        app.add_middleware(LocalNamesOnly)
    return app
