// The list of jobs: the service renders it, and this puts the newest rendering in its place.

import { follow, tellTimes } from "./connection.js";

const PERIOD_MS = 2000;
const live = document.getElementById("live");

follow(location.pathname, "text/html", async (response) => {
  const page = new DOMParser().parseFromString(await response.text(), "text/html");
  const focused = live.contains(document.activeElement) ? document.activeElement.getAttribute("href") : null;
  live.replaceChildren(...page.getElementById("live").childNodes);
  tellTimes(live);
  [...live.querySelectorAll("a")].find((link) => link.getAttribute("href") === focused)?.focus();
  return PERIOD_MS;
});
setInterval(() => tellTimes(live), 10_000);
