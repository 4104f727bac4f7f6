// The two switches of the report; without this script the page stays in the language that it was written in.
const root = document.documentElement;
const [language, theme] = ["switch-language", "switch-theme"].map((id) => document.getElementById(id));
const dark = () => root.dataset.theme ? root.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;

language.addEventListener("click", () => {
  root.dataset.language = root.dataset.language === "en" ? "zh" : "en";
  root.lang = root.dataset.language === "en" ? "en" : "zh-Hans";
});
theme.addEventListener("click", () => {
  root.dataset.theme = dark() ? "light" : "dark";
});
