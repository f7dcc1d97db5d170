--- plgd: rewrites text and code with a language model on this machine. See |plgd.txt|.

local notice = require("plgd.notice")
local options = require("plgd.options")
local preview = require("plgd.preview")
local prompt = require("plgd.prompt")
local server = require("plgd.server")
local sessions = require("plgd.sessions")
local texts = require("plgd.text")

local M = {}

local RANGES = vim.api.nvim_create_namespace("plgd.range")

--- Set options. Nothing needs to be set; what is wrong is told, and its default taken.
---@param given? table
function M.setup(given)
  options.set(given)
  for _, problem in ipairs(options.problems) do
    notice.warn("%s; the default is taken", problem)
  end
  -- A configuration that was read before is read again.
  vim.lsp.config(server.NAME, {})
  if options.current.attach == "open" then
    vim.lsp.enable(server.NAME)
  end
end

-- The current buffer and where it is as a number, for what a user asks about "here".
local function here()
  return vim.api.nvim_get_current_buf(), vim.api.nvim_win_get_cursor(0)[1] - 1
end

local function send_edit(buf, rows, instruction, review)
  server.with_client(buf, function(client)
    local text = texts.of_buffer(buf, client.offset_encoding)
    local range = nil
    if rows then
      local first, last = rows()
      range = text:range_of_rows(first, last)
    end
    server.execute(client, buf, "plgd.edit", {
      uri = vim.uri_from_bufnr(buf),
      range = range,
      instruction = instruction,
      review = review,
    })
  end)
end

-- Rows that stay those that the user meant while a prompt is open or a server starts.
local function tracked(buf, first, last)
  local mark =
    vim.api.nvim_buf_set_extmark(buf, RANGES, first, 0, { end_row = last, end_col = 0, strict = false })
  return function()
    local at = vim.api.nvim_buf_get_extmark_by_id(buf, RANGES, mark, { details = true })
    vim.api.nvim_buf_del_extmark(buf, RANGES, mark)
    return at[1], math.max(at[3].end_row, at[1] + 1)
  end
end

--- Ask for an edit of the current buffer.
---@param opts? { instruction?: string, first?: integer, last?: integer, review?: "preview"|"apply" } lines from 1, the
---  last one included; without them the whole buffer; without an instruction a prompt asks for it
function M.edit(opts)
  opts = opts or {}
  local buf = vim.api.nvim_get_current_buf()
  local reason = server.refusal(buf)
  if reason then
    return notice.error(reason)
  end
  local last = opts.last or opts.first
  local is_whole = not opts.first or (opts.first == 1 and last == vim.api.nvim_buf_line_count(buf))
  local rows = not is_whole and tracked(buf, opts.first - 1, last) or nil
  local function send(instruction)
    send_edit(buf, rows, instruction, opts.review)
  end
  if opts.instruction and opts.instruction ~= "" then
    prompt.remember(opts.instruction)
    send(opts.instruction)
  else
    local lines = rows and (", lines %d to %d"):format(opts.first, last) or ""
    prompt.ask("plgd" .. lines, send)
  end
end

-- Accept or reject hunks: one command for each session that they are of.
local function decide(command, hunks)
  local by_session = {}
  for _, hunk in ipairs(hunks) do
    by_session[hunk.session] = by_session[hunk.session] or {}
    table.insert(by_session[hunk.session], hunk.id)
  end
  for session, ids in pairs(by_session) do
    local client = vim.lsp.get_client_by_id(session.client_id)
    if client then
      server.execute(client, session.buf, command, { session = session.id, hunks = ids })
    end
  end
end

local function decide_within(command, first, last)
  local buf, row = here()
  local hunks = preview.within(buf, first and first - 1 or row, last or row + 1)
  if #hunks == 0 then
    notice.warn(#preview.hunks(buf) > 0 and "there is no hunk here" or "nothing is proposed for this buffer")
  else
    decide(command, hunks)
  end
end

local function decide_all(command)
  local hunks = preview.hunks(vim.api.nvim_get_current_buf())
  if #hunks == 0 then
    notice.warn("nothing is proposed for this buffer")
  else
    decide(command, hunks)
  end
end

--- Accept the hunk under the cursor, or those in some lines (from 1, the last one included).
---@param first? integer
---@param last? integer
function M.accept(first, last)
  decide_within("plgd.accept", first, last)
end

--- Accept every hunk of the current buffer.
function M.accept_all()
  decide_all("plgd.accept")
end

--- Reject the hunk under the cursor, or those in some lines (from 1, the last one included).
---@param first? integer
---@param last? integer
function M.reject(first, last)
  decide_within("plgd.reject", first, last)
end

--- Reject every hunk of the current buffer.
function M.reject_all()
  decide_all("plgd.reject")
end

local function jump(is_beyond, hunks)
  local _, row = here()
  local target = vim.iter(hunks):find(function(hunk)
    return is_beyond(hunk.first, row)
  end) or hunks[1]
  if not target then
    return notice.warn("nothing is proposed for this buffer")
  end
  vim.cmd("normal! m'")
  vim.api.nvim_win_set_cursor(0, { target.first + 1, 0 })
end

--- Move the cursor to the next hunk; after the last one comes the first.
function M.next()
  jump(function(hunk_row, row)
    return hunk_row > row
  end, preview.hunks(vim.api.nvim_get_current_buf()))
end

--- Move the cursor to the previous hunk; before the first one comes the last.
function M.previous()
  jump(function(hunk_row, row)
    return hunk_row < row
  end, vim.iter(preview.hunks(vim.api.nvim_get_current_buf())):rev():totable())
end

--- Cancel what is running for the current buffer, or everything.
---@param everything? boolean
function M.cancel(everything)
  local buf = vim.api.nvim_get_current_buf()
  local n_cancelled = 0
  for _, client in ipairs(vim.lsp.get_clients({ name = server.NAME })) do
    if everything then
      n_cancelled = n_cancelled + 1
      server.execute(client, buf, "plgd.cancel", vim.empty_dict())
    end
  end
  for _, session in ipairs(everything and {} or sessions.of_buffer(buf, "running")) do
    local client = vim.lsp.get_client_by_id(session.client_id)
    if client then
      n_cancelled = n_cancelled + 1
      server.execute(client, buf, "plgd.cancel", { session = session.id })
    end
  end
  if n_cancelled == 0 then
    notice.warn("nothing is running" .. (everything and "" or " for this buffer"))
  end
end

--- Ask again for what was asked last in the current buffer.
---@param instruction? string instead of the one of before
function M.retry(instruction)
  local buf = vim.api.nvim_get_current_buf()
  local session = sessions.of_buffer(buf)[1]
  local client = session and vim.lsp.get_client_by_id(session.client_id)
  if not client then
    return notice.warn("nothing has been asked in this buffer yet")
  end
  local changed = instruction and instruction ~= "" and instruction or nil
  if changed then
    prompt.remember(changed)
  end
  -- What is to be answered otherwise is not wanted as it is.
  if session.state == "open" then
    server.execute(client, buf, "plgd.reject", { session = session.id })
  end
  server.execute(client, buf, "plgd.retry", { session = session.id, instruction = changed })
end

--- Return a statusline component: empty until the server runs, then what it does.
---@return string
function M.statusline()
  return require("plgd.statusline").component()
end

return M
