"""Reference for the joint between a chat endpoint that hits its context window and Gym's classifier.

Start with `overflow` (what an overflow is and how it is said), `endpoint` (a server that says it so), `middleware`
(any other server made to) and `rollout` (a client that ends a rollout on it).
"""
