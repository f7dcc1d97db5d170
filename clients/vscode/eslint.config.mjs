import js from "@eslint/js";
import typescript from "typescript-eslint";

export default typescript.config(
  { ignores: ["out/", "node_modules/"] },
  js.configs.recommended,
  {
    files: ["**/*.ts"],
    extends: [typescript.configs.strictTypeChecked, typescript.configs.stylisticTypeChecked],
    languageOptions: { parserOptions: { projectService: true, tsconfigRootDir: import.meta.dirname } },
    rules: {
      // Numbers in messages need no ceremony.
      "@typescript-eslint/restrict-template-expressions": ["error", { allowNumber: true }],
      // node:test's functions return promises that the runner awaits itself.
      "@typescript-eslint/no-floating-promises": [
        "error",
        { allowForKnownSafeCalls: [{ from: "package", name: ["test", "describe", "it"], package: "node:test" }] },
      ],
      eqeqeq: "error",
      "no-console": "error",
    },
  },
  {
    // What names the vscode API cannot run in Node: the logic stays apart from it.
    files: ["src/*/*.ts"],
    ignores: ["src/editor/**"],
    rules: { "no-restricted-imports": ["error", { paths: ["vscode", "vscode-languageclient/node"] }] },
  },
);
