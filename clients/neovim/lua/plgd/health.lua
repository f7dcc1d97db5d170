--- `:checkhealth plgd`

local options = require("plgd.options")
local server = require("plgd.server")
local sessions = require("plgd.sessions")

local M = {}

local TIMEOUT_MS = 10000

-- What starts plgd: the language server's command up to the word that makes it one.
local function launcher(command)
  local words = {}
  for _, word in ipairs(command) do
    if word == "lsp" then
      return words
    end
    words[#words + 1] = word
  end
  return { command[1] }
end

-- Runs plgd with a word; returns its first line of output, or nil and why there is none.
local function first_line(launch, word)
  local ok, done = pcall(function()
    return vim.system(vim.list_extend(vim.list_slice(launch), { word }), { text = true }):wait(TIMEOUT_MS)
  end)
  if not ok then
    return nil, tostring(done)
  end
  local said = vim.trim(done.stdout ~= "" and done.stdout or done.stderr or "")
  local line = said:match("^[^\n]*")
  if done.code ~= 0 then
    return nil, line ~= "" and line or ("it exited with status %d"):format(done.code)
  end
  return line
end

local function check_program()
  local command = vim.lsp.config[server.NAME].cmd
  if type(command) ~= "table" then
    return vim.health.info("`cmd` is a function")
  end
  local program = command[1]
  if vim.fn.executable(program) == 0 then
    return vim.health.error(("`%s` was not found"):format(program), {
      "Install plgd from a clone of its repository and put it on the path: docs/editors/README.md there says how.",
      'Or say where it is: `require("plgd").setup({ cmd = { "/path/to/plgd", "lsp" } })`.',
    })
  end
  local launch = launcher(command)
  local version, reason = first_line(launch, "--version")
  if not version then
    return vim.health.error(("`%s --version` failed: %s"):format(table.concat(launch, " "), reason))
  end
  vim.health.ok(("%s (%s)"):format(version, vim.fn.exepath(program)))
  local status, why = first_line(launch, "status")
  if status then
    vim.health.ok("daemon: " .. status:gsub("%s+", " "))
  else
    vim.health.info(("daemon: %s; the first edit starts it"):format(why))
  end
end

local function check_client()
  local clients = vim.lsp.get_clients({ name = server.NAME })
  if #clients == 0 then
    vim.health.info("no buffer is attached; the first :Plgd attaches its buffer")
  end
  for _, client in ipairs(clients) do
    local n_buffers = vim.tbl_count(client.attached_buffers)
    local words = "language server: %d buffer%s attached, positions in %s"
    vim.health.ok(words:format(n_buffers, n_buffers == 1 and "" or "s", client.offset_encoding))
  end
  if sessions.status and sessions.status.message ~= "" then
    vim.health.info("status: " .. sessions.status.message)
  end
end

--- Check what plgd needs.
function M.check()
  vim.health.start("plgd")
  if vim.fn.has("nvim-0.11") == 0 then
    return vim.health.error("Neovim 0.11 or newer is needed")
  end
  vim.health.ok("Neovim " .. tostring(vim.version()))
  for _, problem in ipairs(options.problems) do
    vim.health.warn(problem .. "; the default is taken", { ":help plgd-options" })
  end
  check_program()
  check_client()
end

return M
