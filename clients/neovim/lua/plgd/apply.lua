--- Applies a server's edits byte by byte, as one undo step, or not at all.
---
--- Neovim's own handler turns every \r\n of the new text into \n, which loses line endings in files that mix them, and
--- answers `applied: true` for an edit that it dropped because the buffer had moved on.

local texts = require("plgd.text")

local M = {}

--- Split new text into rows, as a buffer of this ending would read it.
local function split(text, ending)
  if ending ~= "\n" then
    -- A row cannot hold \n; a lone one becomes a row's end, like every other.
    text = text:gsub(ending, "\n")
  end
  return vim.split(text, "\n", { plain = true })
end

-- Ends the undo step that is being made, so that typing before and after is undone by itself.
local function break_undo(buf)
  vim.api.nvim_buf_call(buf, function()
    vim.cmd("let &g:undolevels = &g:undolevels")
  end)
end

-- Marks in replaced rows go with them; they are put back where they were.
local function keeping_marks(buf, change)
  local before = vim.fn.getmarklist(buf)
  change()
  local left = {}
  for _, mark in ipairs(vim.fn.getmarklist(buf)) do
    left[mark.mark] = true
  end
  local n_rows = vim.api.nvim_buf_line_count(buf)
  for _, mark in ipairs(before) do
    if mark.mark:match("^'%l$") and not left[mark.mark] then
      local row = math.min(mark.pos[2], n_rows)
      local length = #vim.api.nvim_buf_get_lines(buf, row - 1, row, true)[1]
      vim.api.nvim_buf_set_mark(buf, mark.mark:sub(2), row, math.min(mark.pos[3] - 1, length), {})
    end
  end
end

-- Replaces the bytes from `start` to `stop`; returns whether the text ends with a row's ending afterwards.
local function replace(text, start, stop, new_text)
  local buf, ends_with_ending = text.buf, vim.bo[text.buf].eol
  local first, first_column = text:place(start)
  local last, last_column = text:place(stop)
  local at_end = stop == #text.text
  if
    not at_end
    and first_column == 0
    and last_column == 0
    and (new_text == "" or new_text:sub(-#text.ending) == text.ending)
  then
    local rows = split(new_text, text.ending)
    rows[#rows] = nil
    vim.api.nvim_buf_set_lines(buf, first, last, true, rows)
  elseif not at_end then
    vim.api.nvim_buf_set_text(buf, first, first_column, last, last_column, split(new_text, text.ending))
  else
    -- To the end of the text: whether its last row has an ending is an option of the buffer and not a row.
    local kept = text.text:sub(text:row_offset(first) + 1, start)
    local rows = split(kept .. new_text, text.ending)
    -- A text without any row has none that could end; without rows the buffer is written as an empty file.
    ends_with_ending = rows[#rows] == "" and (first > 0 or #rows > 1)
    if rows[#rows] == "" then
      rows[#rows] = nil
    end
    vim.api.nvim_buf_set_lines(buf, first, text.n_rows, true, rows)
  end
  return ends_with_ending
end

-- 'eol' is no part of the undo history: follow it back and forth by hand.
local function follow_undo(buf, before, after)
  local applied = vim.api.nvim_buf_call(buf, vim.fn.undotree).seq_cur
  vim.api.nvim_create_autocmd({ "TextChanged", "TextChangedI" }, {
    buffer = buf,
    desc = "plgd: the final newline follows undo and redo",
    callback = function()
      local state = vim.fn.undotree()
      if state.seq_cur < applied then
        vim.bo[buf].eol = before
      elseif state.seq_cur == applied then
        vim.bo[buf].eol = after
      end
    end,
  })
end

-- The edits as spans of bytes in ascending order; those that touch are one, so that only one reaches the text's end.
local function merged(text, edits)
  local spans = {}
  for index, edit in ipairs(edits) do
    local start, stop = text:offset(edit.range.start), text:offset(edit.range["end"])
    spans[index] = { start = start, stop = stop, new_text = edit.newText, index = index }
  end
  table.sort(spans, function(a, b)
    if a.start ~= b.start then
      return a.start < b.start
    elseif a.stop ~= b.stop then
      return a.stop < b.stop
    end
    return a.index < b.index
  end)
  local found = {}
  for _, span in ipairs(spans) do
    local last = found[#found]
    if last and last.stop > span.start then
      error("the edits overlap", 0)
    elseif last and last.stop == span.start then
      last.stop, last.new_text = span.stop, last.new_text .. span.new_text
    else
      found[#found + 1] = span
    end
  end
  return found
end

--- Apply edits to a buffer as one undo step.
---@param buf integer loaded
---@param edits lsp.TextEdit[] as a server says them: none overlaps another, all speak of the same text
---@param encoding string
function M.edits(buf, edits, encoding)
  local text = texts.of_buffer(buf, encoding)
  local spans = merged(text, edits)
  local before = vim.bo[buf].eol
  local after = before
  break_undo(buf)
  keeping_marks(buf, function()
    -- From the end to the beginning, so that what is still to come stays where it is.
    for index = #spans, 1, -1 do
      local span = spans[index]
      local ends_with_ending = replace(text, span.start, span.stop, span.new_text)
      if ends_with_ending ~= before then
        after = ends_with_ending
      end
    end
  end)
  break_undo(buf)
  if after ~= before then
    vim.bo[buf].eol = after
    follow_undo(buf, before, after)
  end
end

-- One change of a workspace edit: its document, its version if it has one, its edits.
local function changes_of(edit)
  local changes = {}
  for _, change in ipairs(edit.documentChanges or {}) do
    if change.kind then
      error(("plgd does not %s files"):format(change.kind), 0)
    end
    local version = change.textDocument.version
    changes[#changes + 1] = { uri = change.textDocument.uri, version = version, edits = change.edits }
  end
  for uri, edits in pairs(not edit.documentChanges and edit.changes or {}) do
    changes[#changes + 1] = { uri = uri, edits = edits }
  end
  return changes
end

local function check(change)
  local buf = vim.uri_to_bufnr(change.uri)
  local name = vim.fn.fnamemodify(vim.uri_to_fname(change.uri), ":.")
  if not vim.api.nvim_buf_is_loaded(buf) then
    error(("%s is not open"):format(name), 0)
  elseif not vim.bo[buf].modifiable then
    error(("%s cannot be modified ('nomodifiable')"):format(name), 0)
  elseif type(change.version) == "number" and change.version ~= vim.lsp.util.buf_versions[buf] then
    error(("%s has changed meanwhile"):format(name), 0)
  end
  return buf
end

--- Handle `workspace/applyEdit`: all of it is checked before any of it is applied.
---@param params lsp.ApplyWorkspaceEditParams
---@param encoding string
---@return lsp.ApplyWorkspaceEditResult
---@return integer[] buffers that were changed
function M.workspace_edit(params, encoding)
  local changed = {}
  local ok, reason = pcall(function()
    local changes = changes_of(params.edit)
    for _, change in ipairs(changes) do
      change.buf = check(change)
    end
    for _, change in ipairs(changes) do
      changed[#changed + 1] = change.buf
      M.edits(change.buf, change.edits, encoding)
    end
  end)
  return { applied = ok, failureReason = not ok and tostring(reason) or nil }, changed
end

return M
