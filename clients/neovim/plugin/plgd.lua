--- The commands and mappings of plgd; nothing else is loaded before one of them is used.

if vim.g.loaded_plgd then
  return
end
vim.g.loaded_plgd = true

if vim.fn.has("nvim-0.11") == 0 then
  vim.notify("plgd: Neovim 0.11 or newer is needed", vim.log.levels.WARN)
  return
end

local function command(name, run, attributes)
  vim.api.nvim_create_user_command(name, run, attributes)
end

-- Lines that were given, or none.
local function lines(call)
  if call.range > 0 then
    return call.line1, call.line2
  end
end

command("Plgd", function(call)
  local first, last = lines(call)
  require("plgd").edit({
    instruction = call.args,
    first = first,
    last = last,
    review = call.bang and "apply" or nil,
  })
end, {
  nargs = "*",
  range = true,
  bang = true,
  desc = "Rewrite the buffer or lines of it; ! applies without preview",
})

command("PlgdAccept", function(call)
  if call.bang then
    require("plgd").accept_all()
  else
    require("plgd").accept(lines(call))
  end
end, { range = true, bang = true, desc = "Accept the hunk under the cursor, or in lines; ! accepts all" })

command("PlgdReject", function(call)
  if call.bang then
    require("plgd").reject_all()
  else
    require("plgd").reject(lines(call))
  end
end, { range = true, bang = true, desc = "Reject the hunk under the cursor, or in lines; ! rejects all" })

command("PlgdNext", function()
  require("plgd").next()
end, { desc = "Go to the next hunk" })

command("PlgdPrevious", function()
  require("plgd").previous()
end, { desc = "Go to the previous hunk" })

command("PlgdCancel", function(call)
  require("plgd").cancel(call.bang)
end, { bang = true, desc = "Cancel what runs for this buffer; ! cancels everything" })

command("PlgdRetry", function(call)
  require("plgd").retry(call.args)
end, { nargs = "*", desc = "Ask again, with another instruction if one is given" })

for _, action in ipairs({
  "accept",
  "accept_all",
  "reject",
  "reject_all",
  "next",
  "previous",
  "cancel",
  "retry",
}) do
  vim.keymap.set("n", ("<Plug>(plgd-%s)"):format((action:gsub("_", "-"))), function()
    require("plgd")[action]()
  end, { desc = "plgd: " .. action:gsub("_", " ") })
end

vim.keymap.set("n", "<Plug>(plgd-edit)", "<Cmd>Plgd<CR>", { desc = "plgd: rewrite the buffer" })
vim.keymap.set("x", "<Plug>(plgd-edit)", ":Plgd<CR>", { desc = "plgd: rewrite the selected lines" })
