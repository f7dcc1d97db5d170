--- The statusline's component.

local preview = require("plgd.preview")
local sessions = require("plgd.sessions")

local M = {}

local function percent(status)
  return status.percent and (" %d %%%%"):format(status.percent) or ""
end

-- What each kind of status is in a statusline, in which % must be doubled.
local WORDS = {
  idle = function()
    return ""
  end,
  starting = function()
    return " starting"
  end,
  loading = function(status)
    return " loading" .. percent(status)
  end,
  busy = function(status)
    local rate = status.tokensPerSecond
    return percent(status) .. (rate and (" %.0f tokens/s"):format(rate) or "")
  end,
  error = function()
    return " error"
  end,
  absent = function()
    return " no daemon"
  end,
}

--- Return what the server does, and how many hunks of the window's buffer wait for the user.
---@return string
function M.component()
  local status = sessions.status
  if not status then
    return ""
  end
  local buf = vim.api.nvim_win_get_buf(vim.g.statusline_winid or 0)
  local n_hunks = #preview.hunks(buf)
  local hunks = n_hunks > 0 and (" %d hunk%s"):format(n_hunks, n_hunks == 1 and "" or "s") or ""
  return "plgd" .. (WORDS[status.kind] or WORDS.idle)(status) .. hunks
end

return M
