// Keeping a page up to date: asks again and again for what changed, and says whether it still gets answers.

const LONGEST_WAIT_MS = 10_000;
/** A connection that leads nowhere any more, as behind a tunnel that fell, would be waited for without end. */
const PATIENCE_MS = 30_000;
/** A large answer is asked for so seldom that fetching and drawing it takes a fifth of the time at most. */
const SHARE = 4;

/**
 * Ask `source` for changes for as long as the page is open.
 * `show(response)` is called with every new answer and returns after how many milliseconds to ask again.
 */
export function follow(source, accept, show) {
  const status = document.getElementById("connection");
  // Without the user and password that the address bar may carry: a request must not have them in its URL.
  const url = new URL(source, location.origin);
  let version = null;
  let wait = 1000;
  let failures = 0;
  let timer = 0;
  let isAsking = false;

  const ask = async () => {
    clearTimeout(timer);
    if (isAsking) return;
    isAsking = true;
    const began = performance.now();
    try {
      const known = version === null ? {} : { "If-None-Match": version };
      const response = await fetch(url, { headers: { accept, ...known }, signal: AbortSignal.timeout(PATIENCE_MS) });
      if (response.status !== 304) {
        if (!response.ok) throw new Error(`the service answered ${response.status}`);
        wait = await show(response);
        // Only what was shown is known: an answer that broke off is asked for once more.
        version = response.headers.get("etag");
      }
      failures = 0;
      tell(status, "live", "live");
    } catch (error) {
      failures += 1;
      tell(status, "lost", `no answer, what is shown may be old (${error.message})`);
    }
    isAsking = false;
    const taken = performance.now() - began;
    const pause = failures === 0 ? Math.max(wait, SHARE * taken) : Math.min(1000 * 2 ** (failures - 1), LONGEST_WAIT_MS);
    timer = setTimeout(() => document.hidden || ask(), pause);
  };

  document.addEventListener("visibilitychange", () => document.hidden || ask());
  ask();
}

/** Write times of the page as what they are for its reader: how long ago, and the local time on demand. */
export function tellTimes(around) {
  for (const element of around.querySelectorAll("time")) {
    const at = new Date(element.dateTime);
    element.textContent = ago((Date.now() - at) / 1000);
    element.title = at.toLocaleString();
  }
}

function tell(status, state, text) {
  if (status.dataset.state === state && status.textContent === text) return;
  status.dataset.state = state;
  status.textContent = text;
}

function ago(seconds) {
  for (const [size, unit] of [[86_400, "d"], [3600, "h"], [60, "min"]]) {
    if (seconds >= size) return `${Math.floor(seconds / size)} ${unit} ago`;
  }
  return "just now";
}
