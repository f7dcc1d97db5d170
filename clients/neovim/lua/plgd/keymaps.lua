--- Mappings of a buffer that has hunks to review; what they hid comes back afterwards.

local options = require("plgd.options")

local M = {}

local ACTIONS = { "accept", "accept_all", "reject", "reject_all", "next", "previous" }

-- Mappings of the buffer's own that were hidden: buffer -> what `mapset()` takes.
local hidden = {} ---@type table<integer, table[]>

--- Map the keys of the options in a buffer.
---@param buf integer
function M.set(buf)
  hidden[buf] = {}
  for _, action in ipairs(ACTIONS) do
    local keys = options.current.keymaps[action]
    if keys then
      vim.api.nvim_buf_call(buf, function()
        local mapping = vim.fn.maparg(keys, "n", false, true)
        table.insert(hidden[buf], { keys = keys, mapping = mapping.buffer == 1 and mapping or nil })
      end)
      vim.keymap.set("n", keys, ("<Plug>(plgd-%s)"):format((action:gsub("_", "-"))), {
        buffer = buf,
        remap = true,
        desc = "plgd: " .. action:gsub("_", " "),
      })
    end
  end
end

--- Take them away again.
---@param buf integer
function M.restore(buf)
  local mappings = hidden[buf] or {}
  hidden[buf] = nil
  if not vim.api.nvim_buf_is_valid(buf) then
    return
  end
  vim.api.nvim_buf_call(buf, function()
    for _, was in ipairs(mappings) do
      -- The user may have taken the mapping away meanwhile.
      pcall(vim.keymap.del, "n", was.keys, { buffer = buf })
      if was.mapping then
        vim.fn.mapset(was.mapping)
      end
    end
  end)
end

return M
