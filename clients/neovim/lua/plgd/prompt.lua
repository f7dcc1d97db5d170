--- The prompt box, with the instructions of before.

local options = require("plgd.options")

local M = {}

-- Neovim keeps the history of what was typed into prompts (:help history), in the shada file across sessions.
local HISTORY = "@"

--- Remember an instruction that was not typed into a prompt.
---@param instruction string
function M.remember(instruction)
  vim.fn.histadd(HISTORY, instruction)
end

--- Complete an instruction from those of before and from the presets.
---@param lead string
---@return string[]
function M.complete(lead)
  local found, seen = {}, {}
  local function offer(instruction)
    if instruction ~= "" and not seen[instruction] and vim.startswith(instruction, lead) then
      seen[instruction] = true
      found[#found + 1] = instruction
    end
  end
  for number = vim.fn.histnr(HISTORY), 1, -1 do
    offer(vim.fn.histget(HISTORY, number))
  end
  for _, preset in ipairs(options.current.presets) do
    offer(preset.instruction)
  end
  return found
end

--- Ask the user for an instruction.
---@param title string
---@param use fun(instruction: string) called unless the user gave none
function M.ask(title, use)
  local choices = { prompt = title .. ": ", completion = "customlist,v:lua.require'plgd.prompt'.complete" }
  vim.ui.input(choices, function(instruction)
    if instruction and vim.trim(instruction) ~= "" then
      use(vim.trim(instruction))
    end
  end)
end

return M
