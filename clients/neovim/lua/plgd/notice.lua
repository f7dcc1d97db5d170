--- Messages to the user.

local M = {}

---@param level integer
local function teller(level)
  return function(message, ...)
    vim.notify(
      "plgd: " .. (select("#", ...) > 0 and message:format(...) or message),
      level,
      { title = "plgd" }
    )
  end
end

M.info = teller(vim.log.levels.INFO)
M.warn = teller(vim.log.levels.WARN)
M.error = teller(vim.log.levels.ERROR)

--- Tell everybody who listens: `autocmd User {name}`.
---@param name string
---@param data table
function M.event(name, data)
  vim.api.nvim_exec_autocmds("User", { pattern = name, modeline = false, data = data })
end

return M
