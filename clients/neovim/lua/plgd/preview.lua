--- Proposed hunks in the buffer: old rows highlighted, new rows below them as virtual lines. The text is not changed.

local keymaps = require("plgd.keymaps")
local texts = require("plgd.text")

local M = {}

local NAMESPACE = vim.api.nvim_create_namespace("plgd.preview")

---@class plgd.Shown a hunk where it is now
---@field session plgd.Session
---@field id integer
---@field first integer row
---@field last integer row after the last; the first row itself where rows are only added
---@field state string open or conflict

---@class plgd.Mark
---@field session plgd.Session
---@field id integer
---@field state string
---@field adds_only boolean
---@field marks integer[] the first covers its rows

local shown = {} ---@type table<integer, plgd.Mark[]>

local function set_highlights()
  for name, link in pairs({
    PlgdDelete = "DiffDelete",
    PlgdAdd = "DiffAdd",
    PlgdConflict = "DiffText",
    PlgdHint = "Comment",
  }) do
    vim.api.nvim_set_hl(0, name, { link = link, default = true })
  end
end

-- Virtual lines know no tab stops.
local function without_tabs(row, buf)
  local tab_width, column = vim.bo[buf].tabstop, 0
  return (
    row:gsub("([^\t]*)(\t?)", function(words, tab)
      column = column + vim.fn.strdisplaywidth(words)
      local width = tab ~= "" and tab_width - column % tab_width or 0
      column = column + width
      return words .. (" "):rep(width)
    end)
  )
end

local function virtual_lines(hunk, buf)
  if hunk.newText == "" then
    return nil
  end
  local ending = texts.ending(buf)
  local text = hunk.newText
  if text:sub(-#ending) == ending then
    text = text:sub(1, -#ending - 1)
  end
  return vim
    .iter(vim.split(text, ending, { plain = true }))
    :map(function(row)
      local words = without_tabs(row, buf)
      return { { words == "" and " " or words, "PlgdAdd" } }
    end)
    :totable()
end

-- Virtual lines above the first row are above the window's edge until it is scrolled for them.
local function reveal_above_first_row(buf, n_lines)
  for _, window in ipairs(vim.fn.win_findbuf(buf)) do
    vim.api.nvim_win_call(window, function()
      if vim.fn.line("w0") == 1 then
        vim.fn.winrestview({ topline = 1, topfill = n_lines })
      end
    end)
  end
end

-- Puts a hunk into the buffer; returns the extmarks, the one over its rows first.
local function set_marks(buf, text, hunk, title)
  local first, last = text:rows_of_range(hunk.range)
  local adds_only = first == last
  -- Rows that are only added belong to the row before them.
  local anchor = math.min(adds_only and math.max(first - 1, 0) or first, text.n_rows - 1)
  local marks = {
    vim.api.nvim_buf_set_extmark(buf, NAMESPACE, anchor, 0, {
      end_row = adds_only and anchor or last,
      end_col = 0,
      hl_group = not adds_only and (hunk.state == "conflict" and "PlgdConflict" or "PlgdDelete") or nil,
      hl_eol = true,
      virt_text = { { title, "PlgdHint" } },
      virt_text_pos = "eol",
      strict = false,
    }),
  }
  local lines = virtual_lines(hunk, buf)
  if lines then
    local above = adds_only and first == 0
    marks[2] = vim.api.nvim_buf_set_extmark(buf, NAMESPACE, adds_only and anchor or last - 1, 0, {
      virt_lines = lines,
      virt_lines_above = above,
      virt_lines_overflow = "scroll",
    })
    if above then
      reveal_above_first_row(buf, #lines)
    end
  end
  return marks, adds_only
end

-- Takes a session's hunks out of the buffer; returns those of other sessions.
local function take_out(session)
  local left = {}
  for _, mark in ipairs(shown[session.buf] or {}) do
    if mark.session ~= session then
      left[#left + 1] = mark
    elseif vim.api.nvim_buf_is_valid(session.buf) then
      for _, extmark in ipairs(mark.marks) do
        vim.api.nvim_buf_del_extmark(session.buf, NAMESPACE, extmark)
      end
    end
  end
  return left
end

-- Mappings exist while there is something to review.
local function keep(buf, marks)
  local before = shown[buf]
  shown[buf] = #marks > 0 and marks or nil
  if shown[buf] and not before then
    keymaps.set(buf)
  elseif before and not shown[buf] then
    keymaps.restore(buf)
  end
end

--- Take a session's hunks out of the buffer.
---@param session plgd.Session
function M.clear(session)
  keep(session.buf, take_out(session))
end

--- Return whether the hunks that would replace lines find these lines where they say.
---@param buf integer
---@param hunks table[] as in `plgd/proposal`
---@param encoding string
---@return boolean
function M.fits(buf, hunks, encoding)
  local text = texts.of_buffer(buf, encoding)
  return vim.iter(hunks):all(function(hunk)
    local start, stop = text:offset(hunk.range.start), text:offset(hunk.range["end"])
    return hunk.state ~= "open" or text.text:sub(start + 1, stop) == hunk.oldText
  end)
end

--- Show the hunks of a session that wait for the user, instead of those that were shown for it.
---@param session plgd.Session
---@param hunks table[] as in `plgd/proposal`
---@param encoding string
---@return integer n_shown
function M.show(session, hunks, encoding)
  local buf = session.buf
  local marks = take_out(session)
  local text, n_shown = texts.of_buffer(buf, encoding), 0
  set_highlights()
  for n, hunk in ipairs(hunks) do
    if hunk.state == "open" or hunk.state == "conflict" then
      local title = (" plgd %d/%d%s"):format(n, #hunks, hunk.state == "conflict" and ", conflict" or "")
      local extmarks, adds_only = set_marks(buf, text, hunk, title)
      local mark =
        { session = session, id = hunk.id, state = hunk.state, adds_only = adds_only, marks = extmarks }
      marks[#marks + 1] = mark
      n_shown = n_shown + 1
    end
  end
  keep(buf, marks)
  return n_shown
end

--- Return the hunks that are shown in a buffer, where they are now, from top to bottom.
---@param buf integer 0 for the current one
---@return plgd.Shown[]
function M.hunks(buf)
  buf = buf == 0 and vim.api.nvim_get_current_buf() or buf
  local found = {}
  for _, mark in ipairs(shown[buf] or {}) do
    local at = vim.api.nvim_buf_get_extmark_by_id(buf, NAMESPACE, mark.marks[1], { details = true })
    local last = mark.adds_only and at[1] or at[3].end_row
    found[#found + 1] =
      { session = mark.session, id = mark.id, state = mark.state, first = at[1], last = last }
  end
  table.sort(found, function(a, b)
    return a.first ~= b.first and a.first < b.first or a.first == b.first and a.id < b.id
  end)
  return found
end

--- Return the hunks in some rows.
---@param buf integer
---@param first integer
---@param last integer the row after the last
---@return plgd.Shown[]
function M.within(buf, first, last)
  return vim.tbl_filter(function(hunk)
    return hunk.first < last and math.max(hunk.last, hunk.first + 1) > first
  end, M.hunks(buf))
end

return M
