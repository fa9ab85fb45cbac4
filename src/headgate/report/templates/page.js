"use strict";
for (const button of document.querySelectorAll("button.copy")) {
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.previousElementSibling;
    try {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
    } catch {
      const range = document.createRange();
      range.selectNodeContents(code);
      getSelection().removeAllRanges();
      getSelection().addRange(range);
      button.textContent = "selected";
    }
    setTimeout(() => { button.textContent = "copy"; }, 2000);
  });
}
for (const input of document.querySelectorAll("input[data-filter]")) {
  const home = document.getElementById(input.dataset.filter);
  const items = [...(home.tBodies ? home.tBodies[0].rows : home.children)];
  const names = items.map((each) => (each.dataset.name ?? each.cells?.[0].textContent ?? "").toLowerCase());
  input.closest(".filter").hidden = items.length < 12;
  input.addEventListener("input", () => {
    const wanted = input.value.trim().toLowerCase();
    items.forEach((each, at) => { each.hidden = !names[at].includes(wanted); });
  });
}
