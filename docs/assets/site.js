// What the theme leaves out for readers of the page by voice and by keyboard.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelector(".md-search")?.setAttribute("aria-label", "Search")
  for (const wide of document.querySelectorAll(".md-typeset__scrollwrap")) wide.tabIndex = 0
})
