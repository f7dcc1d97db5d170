--- The language server `plgd lsp`: started when needed, kept in step with buffers, asked.

local apply = require("plgd.apply")
local notice = require("plgd.notice")
local options = require("plgd.options")
local sessions = require("plgd.sessions")
local texts = require("plgd.text")

local M = {}

M.NAME = "plgd"

---@class plgd.Waiting what waits until a buffer is attached
---@field client_id integer?
---@field uses (fun(client: vim.lsp.Client))[]

local waiting = {} ---@type table<integer, plgd.Waiting>

-- Commands that a client was sent and has not answered.
local unanswered = {} ---@type table<integer, integer>

--- Say why a buffer cannot be edited with plgd, if it cannot.
---@param buf integer
---@return string? reason
function M.refusal(buf)
  local bo = vim.bo[buf]
  if bo.buftype ~= "" and bo.buftype ~= "acwrite" then
    return ("this is no file but a %s buffer"):format(bo.buftype)
  elseif vim.api.nvim_buf_get_name(buf) == "" then
    return "the buffer has no name yet; `:file NAME` gives it one"
  elseif not bo.modifiable then
    return "the buffer cannot be modified ('nomodifiable')"
  elseif not texts.is_utf8(table.concat(vim.api.nvim_buf_get_lines(buf, 0, -1, true), "\n")) then
    return "the buffer has bytes that are not UTF-8; open it with the right encoding (:help ++enc)"
  end
end

--- Send a buffer's whole text, so that the server has it byte for byte.
---
--- Neovim tells a server about changed rows alone, and not about 'fileformat' and 'endofline'.
---@param client vim.lsp.Client
---@param buf integer
local function resend(client, buf)
  -- Any other message sends pending changes first; they must not come after the whole text.
  client:notify("$/setTrace", { value = "off" })
  client:notify("textDocument/didChange", {
    textDocument = { uri = vim.uri_from_bufnr(buf), version = vim.lsp.util.buf_versions[buf] },
    contentChanges = { { text = texts.of_buffer(buf, client.offset_encoding).text } },
  })
end

local function on_apply_edit(_, params, context)
  local client = assert(vim.lsp.get_client_by_id(context.client_id))
  local result, changed = apply.workspace_edit(params, client.offset_encoding)
  for _, buf in ipairs(changed) do
    resend(client, buf)
  end
  return result
end

-- Forgets what a client was to do; returns whether there was anything.
local function drop(client_id)
  local n_unanswered = unanswered[client_id] or 0
  unanswered[client_id] = nil
  for buf, wait in pairs(waiting) do
    if wait.client_id == client_id then
      waiting[buf] = nil
      n_unanswered = n_unanswered + 1
    end
  end
  local n_running = sessions.forget(function(session)
    return session.client_id == client_id
  end)
  return n_unanswered + n_running > 0
end

local function on_exit(code, signal, client_id)
  vim.schedule(function()
    local has_lost = drop(client_id)
    -- 0 and 143 are a stop that was asked for.
    if has_lost or code ~= 0 and code ~= 143 or not vim.list_contains({ 0, 15 }, signal) then
      local how = signal ~= 0 and ("by signal %d"):format(signal) or ("with status %d"):format(code)
      local lost = has_lost and "what was asked is lost, and " or ""
      notice.error(
        "the language server ended %s; %sthe next :Plgd starts it again (:checkhealth plgd)",
        how,
        lost
      )
    end
    local others = vim.tbl_filter(function(client)
      return client.id ~= client_id
    end, vim.lsp.get_clients({ name = M.NAME }))
    if #others == 0 then
      sessions.status = nil
      vim.cmd.redrawstatus({ bang = true })
    end
  end)
end

--- Return the configuration that `vim.lsp.config.plgd` begins with.
---@return vim.lsp.Config
function M.config()
  local set = options.current
  local handlers = { ["workspace/applyEdit"] = on_apply_edit }
  for method, handle in pairs(sessions.handlers) do
    handlers[method] = function(_, params, context)
      handle(params, context.client_id)
    end
  end
  return {
    cmd = set.cmd,
    -- Only what plgd can edit is attached, and one server serves every folder.
    root_dir = function(buf, on_dir)
      if not M.refusal(buf) then
        on_dir(nil)
      end
    end,
    init_options = {
      review = set.review,
      model = set.model,
      policy = set.policy,
      presets = #set.presets > 0 and set.presets or nil,
      comment_marker = set.comment_marker,
    },
    -- Neovim's own incremental changes lose step where rows end with \r, the last one has no ending, or the last ones
    -- are deleted: a server that believed them would edit another text than the user's.
    flags = { allow_incremental_sync = false },
    capabilities = { experimental = { plgd = { proposals = true } } },
    handlers = handlers,
    commands = {
      -- A code action: the same way as :Plgd, so that the server has the text as it is.
      ["plgd.edit"] = function(command, context)
        local client = assert(vim.lsp.get_client_by_id(context.client_id))
        M.execute(client, context.bufnr, command.command, command.arguments[1])
      end,
    },
    on_exit = on_exit,
  }
end

--- Return the client that a buffer is attached to.
---@param buf integer
---@return vim.lsp.Client?
function M.client_of(buf)
  return vim.lsp.get_clients({ name = M.NAME, bufnr = buf })[1]
end

--- Call a function with the client of a buffer, which is started and attached if need be.
---@param buf integer
---@param use fun(client: vim.lsp.Client)
function M.with_client(buf, use)
  local client = M.client_of(buf)
  if client then
    return use(client)
  end
  local config = vim.lsp.config[M.NAME]
  local program = type(config.cmd) == "table" and config.cmd[1] or nil
  if program and vim.fn.executable(program) == 0 then
    notice.error(
      "`%s` was not found; install plgd or set `cmd` (:help plgd-options, :checkhealth plgd)",
      program
    )
    return
  end
  if waiting[buf] then
    table.insert(waiting[buf].uses, use)
    return
  end
  config = vim.tbl_extend("force", config, { name = M.NAME })
  config.root_dir = type(config.root_dir) == "string" and config.root_dir or nil
  local wait = { uses = { use } }
  waiting[buf] = wait
  -- A server that runs already is attached before this returns.
  wait.client_id = vim.lsp.start(config, { bufnr = buf, reuse_client = config.reuse_client })
  if not wait.client_id then
    -- Neovim has told why.
    waiting[buf] = nil
  end
end

vim.api.nvim_create_autocmd("LspAttach", {
  group = vim.api.nvim_create_augroup("plgd.attach", {}),
  desc = "plgd: what was asked before the server was there is asked now",
  callback = function(event)
    local client = vim.lsp.get_client_by_id(event.data.client_id)
    if client and client.name == M.NAME then
      local wait = waiting[event.buf]
      waiting[event.buf] = nil
      for _, use in ipairs(wait and wait.uses or {}) do
        use(client)
      end
    end
  end,
})

vim.api.nvim_create_autocmd("BufUnload", {
  group = vim.api.nvim_create_augroup("plgd.unload", {}),
  desc = "plgd: a text that is gone has nothing to review",
  callback = function(event)
    waiting[event.buf] = nil
    sessions.forget(function(session)
      return session.buf == event.buf
    end)
  end,
})

--- Execute a command of the server's about a buffer's text.
---@param client vim.lsp.Client
---@param buf integer
---@param command string
---@param argument table
function M.execute(client, buf, command, argument)
  if vim.lsp.buf_is_attached(buf, client.id) then
    resend(client, buf)
  end
  local params = { command = command, arguments = { argument } }
  local function count(n)
    unanswered[client.id] = (unanswered[client.id] or 0) + n
  end
  count(1)
  local is_sent = client:request("workspace/executeCommand", params, function(failure, result)
    count(-1)
    if failure then
      notice.error(failure.message)
    elseif result and result.session then
      sessions.begin(result.session, client.id, buf, argument.instruction)
    end
  end, buf)
  if not is_sent then
    count(-1)
    notice.error("the language server is ending; ask again")
  end
end

return M
