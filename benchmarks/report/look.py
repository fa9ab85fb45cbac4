"""What opening a page shows: requests, scripts, overflow, contrast, dark mode, the keyboard; and pictures of it."""

from __future__ import annotations

import re
from html import unescape
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from benchmarks.report.chromium import DESKTOP, PHONE

SIGHT = Path(__file__).with_name("sight.js").read_text(encoding="utf-8")
READABLE = 4.5  # WCAG 2.2, 1.4.3
Words = dict[str, tuple[str, ...]]  # what the first screen should say, and how that may be written
TABS = 60
SETTLED_MS = 1_500
_HOST = r"(?:https?:)?//([a-z0-9.-]+\.[a-z]{2,})"
_NAMED = re.compile(rf"(?:src|href)\s*=\s*[\"']{_HOST}|url\(\s*[\"']?{_HOST}|@import\s+[\"']{_HOST}", re.IGNORECASE)
# An outline, or anything else that changes when the focus comes.
_COUNTS = """() => ({
  "inline scripts": [...document.scripts].filter(s => !s.src && s.type !== "application/json").length,
  "handlers": [...document.querySelectorAll("*")].filter(e => [...e.attributes].some(a => /^on/.test(a.name))).length,
  "landmarks": document.querySelectorAll("main, [role=main], header, nav, footer").length,
  "headings": document.querySelectorAll("h1, h2, h3, h4, h5, h6").length,
  "csp": (document.querySelector("meta[http-equiv='Content-Security-Policy' i]") || {}).content || "",
})"""
FOCUSED = """() => {
  const at = document.activeElement;
  if (!at || at === document.body || at === document.documentElement) return null;
  const style = getComputedStyle(at);
  const outlined = () => style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0;
  const look = () => [style.boxShadow, style.backgroundColor, style.borderColor, style.textDecoration].join();
  const box = at.getBoundingClientRect();
  const path = [];
  for (let e = at; e.parentElement; e = e.parentElement) path.push([...e.parentElement.children].indexOf(e));
  const [line, focused] = [outlined(), look()];
  at.blur();
  const plain = look();
  at.focus({ focusVisible: true, preventScroll: true });
  return { id: path.join("."), tag: at.tagName.toLowerCase(), seen: (line || focused !== plain) && box.width > 0 };
}"""


def hosts_named(html: str) -> list[str]:
    """The hosts that tags and styles of a page name, whether they are asked or only linked to.

    >>> hosts_named('<script src="https://cdn.example.org/x.js"></script><a href="//b.example.com">b</a>')
    ['b.example.com', 'cdn.example.org']
    """
    return sorted({host.lower() for found in _NAMED.findall(unescape(html)) for host in found if host})


def measured(browser: Any, page_file: Path, words: Words, pictures: Path) -> dict[str, Any]:
    """All that a browser says of one page; pictures are written beside `pictures`' name."""
    desk = _opened(browser, page_file, DESKTOP, "light")
    html = page_file.read_text(encoding="utf-8")
    found = _requests(desk) | _inside(desk["page"]) | {"named hosts": len(hosts_named(html))}
    found["bytes"] = page_file.stat().st_size
    found["desktop"] = _screen(desk["page"].evaluate(SIGHT), words, DESKTOP)
    _pictured(desk, found["desktop"], pictures.with_name(f"{pictures.name}-desktop.png"))
    found |= _keyboard(desk["page"])
    desk["context"].close()
    narrow = _opened(browser, page_file, PHONE, "light", phone=False)
    found["narrow"] = _screen(narrow["page"].evaluate(SIGHT), words, PHONE)
    narrow["context"].close()
    phone = _opened(browser, page_file, PHONE, "light", phone=True)
    found["phone"] = _screen(phone["page"].evaluate(SIGHT), words, PHONE)
    _pictured(phone, found["phone"], pictures.with_name(f"{pictures.name}-phone.png"))
    phone["context"].close()
    dark = _opened(browser, page_file, DESKTOP, "dark")
    found["dark"] = _screen(dark["page"].evaluate(SIGHT), words, DESKTOP)
    dark["context"].close()
    return found


def _opened(browser: Any, page_file: Path, size: dict[str, int], scheme: str, phone: bool = False) -> dict[str, Any]:
    context = browser.new_context(viewport=size, color_scheme=scheme, is_mobile=phone, has_touch=phone)
    page = context.new_page()
    asked: list[str] = []
    errors: list[str] = []

    def routed(route: Any) -> None:
        url = route.request.url
        if urlsplit(url).scheme in ("http", "https", "ws", "wss"):
            asked.append(url)
            route.abort()
        else:
            route.continue_()

    page.route("**/*", routed)
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto(page_file.resolve().as_uri(), wait_until="load")
    page.wait_for_timeout(SETTLED_MS)
    return {"context": context, "page": page, "asked": asked, "errors": errors}


def _requests(opened: dict[str, Any]) -> dict[str, Any]:
    hosts = sorted({urlsplit(url).hostname or "" for url in opened["asked"]})
    return {"requests": len(opened["asked"]), "asked hosts": len(hosts), "errors": len(opened["errors"])}


def _inside(page: Any) -> dict[str, Any]:
    """Counts over the page and what it frames."""
    all_frames = [frame.evaluate(_COUNTS) for frame in page.frames]
    csp = all_frames[0].pop("csp")
    return {name: sum(each[name] for each in all_frames) for name in all_frames[0]} | {"csp": csp}


def _screen(sight: dict[str, Any], words: Words, size: dict[str, int]) -> dict[str, Any]:
    texts = sight["texts"]
    seen = " ".join(
        each["text"] for each in texts if each["bottom"] <= size["height"] and each["right"] <= size["width"]
    )
    return {
        "overflow": sight["overflow"],
        "width": sight["width"],
        "height": sight["height"],
        "background": round(sight["background"], 3),
        "texts": len(texts),
        "beyond the edge": sum(each["right"] > sight["width"] for each in texts),
        "poor contrast": sum(each["ratio"] < READABLE for each in texts),
        "first screen says": [name for name, forms in words.items() if any(form in seen for form in forms)],
    }


def _keyboard(page: Any) -> dict[str, Any]:
    stops: dict[str, bool] = {}
    for _ in range(TABS):
        page.keyboard.press("Tab")
        at = page.evaluate(FOCUSED)
        if at is None or at["id"] in stops:
            break
        stops[at["id"]] = at["seen"]
    page.evaluate("() => { document.activeElement?.blur(); scrollTo(0, 0); }")
    return {"tab stops": len(stops), "stops seen": sum(stops.values())}


def _pictured(opened: dict[str, Any], screen: dict[str, Any], file: Path) -> None:
    """A picture, unless there is nothing to see."""
    if screen["texts"]:
        file.parent.mkdir(parents=True, exist_ok=True)
        opened["page"].screenshot(path=str(file))
