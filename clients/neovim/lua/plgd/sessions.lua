--- What was asked, and what the server says about it.

local notice = require("plgd.notice")
local options = require("plgd.options")
local preview = require("plgd.preview")

local M = {}

---@class plgd.Session
---@field id string
---@field client_id integer
---@field buf integer
---@field instruction string
---@field state "running"|"open"|"done" open: hunks wait for the user
---@field order integer counts up, the newest session has the highest

---@type table<string, plgd.Session>
local all = {}
local n_begun = 0

--- The last status of the server: `kind`, `message`, `model`, `busy`, `percent`, `tokensPerSecond`.
---@type table?
M.status = nil

--- Know a session from now on; one that is known already keeps what is known about it.
---@param id string
---@param client_id integer
---@param buf integer
---@param instruction string
---@return plgd.Session
function M.begin(id, client_id, buf, instruction)
  if not all[id] then
    n_begun = n_begun + 1
    all[id] = { id = id, client_id = client_id, buf = buf, state = "running", order = n_begun }
  end
  all[id].instruction = instruction or all[id].instruction
  return all[id]
end

--- Return the sessions of a buffer, the newest first.
---@param buf integer
---@param state? string
---@return plgd.Session[]
function M.of_buffer(buf, state)
  local found = vim.tbl_filter(function(session)
    return session.buf == buf and (not state or session.state == state)
  end, vim.tbl_values(all))
  table.sort(found, function(a, b)
    return a.order > b.order
  end)
  return found
end

-- The session of a message from the server, which may come before the answer to the request that began it.
local function of_message(params, client_id)
  return all[params.session]
    or M.begin(params.session, client_id, vim.uri_to_bufnr(params.uri), params.instruction or "")
end

--- Forget some sessions, and what they proposed.
---@param is_gone fun(session: plgd.Session): boolean
---@return integer n_running how many of them had not ended
function M.forget(is_gone)
  local n_running = 0
  for id, session in pairs(all) do
    if is_gone(session) then
      n_running = n_running + (session.state == "running" and 1 or 0)
      preview.clear(session)
      all[id] = nil
    end
  end
  return n_running
end

-- Statuses that nobody has to worry about; the others are warnings, `failed` is an error.
local FINE = { proposed = true, applied = true, no_change = true, cancelled = true }

-- How a review goes on, in the user's own keys.
local function next_keys()
  local keys = options.current.keymaps
  return keys.next and keys.accept and (" %s goes to one, %s accepts it."):format(keys.next, keys.accept)
    or ""
end

local function on_finished(params, client_id)
  local session = of_message(params, client_id)
  if session.state == "running" then
    session.state = params.status == "proposed" and "open" or "done"
  end
  local tell = params.status == "failed" and notice.error
    or FINE[params.status] and notice.info
    or notice.warn
  local words = params.message ~= "" and params.message or params.status:gsub("_", " ")
  tell("%s", words .. (params.status == "proposed" and next_keys() or ""))
  notice.event("PlgdFinished", params)
end

local function on_proposal(params, client_id)
  local session = of_message(params, client_id)
  if not vim.api.nvim_buf_is_loaded(session.buf) then
    return
  end
  local encoding = assert(vim.lsp.get_client_by_id(client_id)).offset_encoding
  local is_current = type(params.version) ~= "number"
    or params.version == vim.lsp.util.buf_versions[session.buf]
  -- What was typed meanwhile is on its way to the server. If it moved the hunks, they are told again; otherwise not.
  if is_current or preview.fits(session.buf, params.hunks, encoding) then
    local n_open = preview.show(session, params.hunks, encoding)
    session.state = n_open > 0 and "open" or "done"
  end
  notice.event("PlgdProposal", params)
end

local function on_status(params)
  M.status = params
  vim.cmd.redrawstatus({ bang = true })
  notice.event("PlgdStatus", params)
end

--- What to do with the server's own notifications.
---@type table<string, fun(params: table, client_id: integer)>
M.handlers = {
  ["plgd/finished"] = on_finished,
  ["plgd/proposal"] = on_proposal,
  ["plgd/status"] = on_status,
}

return M
