--- A buffer's text as language servers see it: bytes, positions, rows.
---
--- A server ends lines at \n, \r\n and \r; a buffer ends rows by its 'fileformat' alone, so a stray \r makes line
--- numbers differ. Everything here therefore goes by way of byte offsets, which mean the same to both.

local M = {}

local ENDINGS = { unix = "\n", dos = "\r\n", mac = "\r" }

---@class plgd.Text
---@field buf integer
---@field text string what the server has: every row with its ending, the last one only if the buffer has 'eol'
---@field ending string
---@field encoding string of positions: utf-8, utf-16 or utf-32
---@field n_rows integer
---@field private row_starts integer[] byte offset of each row
---@field private line_starts integer[]? byte offset of each line of the server, made when needed
local Text = {}
Text.__index = Text

--- Return the ending that a buffer gives its rows.
---@param buf integer
---@return string
function M.ending(buf)
  return ENDINGS[vim.bo[buf].fileformat]
end

--- Take a buffer's text as it is now.
---@param buf integer
---@param encoding string
---@return plgd.Text
function M.of_buffer(buf, encoding)
  local ending = M.ending(buf)
  local rows = vim.api.nvim_buf_get_lines(buf, 0, -1, true)
  local starts, offset = {}, 0
  for index, row in ipairs(rows) do
    starts[index] = offset
    offset = offset + #row + #ending
  end
  local text = table.concat(rows, ending) .. (vim.bo[buf].eol and ending or "")
  local fields =
    { buf = buf, text = text, ending = ending, encoding = encoding, n_rows = #rows, row_starts = starts }
  return setmetatable(fields, Text)
end

-- How many of the ascending offsets are at most `offset`.
local function count_up_to(offsets, offset)
  local low, high = 0, #offsets
  while low < high do
    local middle = math.ceil((low + high) / 2)
    if offsets[middle] <= offset then
      low = middle
    else
      high = middle - 1
    end
  end
  return low
end

function Text:lines()
  if not self.line_starts then
    local starts, at = { 0 }, self.text:find("[\r\n]")
    while at do
      if self.text:byte(at) == 13 and self.text:byte(at + 1) == 10 then
        at = at + 1
      end
      starts[#starts + 1] = at
      at = self.text:find("[\r\n]", at + 1)
    end
    self.line_starts = starts
  end
  return self.line_starts
end

--- Return the byte offset of a position; one past a line's or the text's end is clamped.
---@param position lsp.Position
---@return integer
function Text:offset(position)
  local starts = self:lines()
  local start = starts[position.line + 1]
  if not start then
    return #self.text
  end
  local line = self.text:sub(start + 1, starts[position.line + 2] or #self.text):gsub("[\r\n]+$", "")
  return start + vim.str_byteindex(line, self.encoding, position.character, false)
end

--- Return the position of a byte offset.
---@param offset integer
---@return lsp.Position
function Text:position(offset)
  local starts = self:lines()
  local line = count_up_to(starts, offset)
  local before = self.text:sub(starts[line] + 1, offset)
  return { line = line - 1, character = vim.str_utfindex(before, self.encoding) }
end

--- Return the row and byte column of a byte offset; what lies after the last row's ending is row `n_rows`, column 0.
---@param offset integer
---@return integer row
---@return integer column
function Text:place(offset)
  local row = count_up_to(self.row_starts, offset)
  if row == self.n_rows and vim.bo[self.buf].eol and offset == #self.text then
    return self.n_rows, 0
  end
  return row - 1, offset - self.row_starts[row]
end

--- Return the byte offset of a row's beginning; a row after the last one begins at the text's end.
---@param row integer
---@return integer
function Text:row_offset(row)
  return self.row_starts[row + 1] or #self.text
end

--- Return the range of the rows `first` up to, not including, `last`.
---@param first integer
---@param last integer
---@return lsp.Range
function Text:range_of_rows(first, last)
  return { start = self:position(self:row_offset(first)), ["end"] = self:position(self:row_offset(last)) }
end

--- Return the rows that a range covers: the first, and the one after the last.
---
--- A range without text lies before its first row, or after the last one of the buffer.
---@param range lsp.Range
---@return integer first
---@return integer last
function Text:rows_of_range(range)
  local start, stop = self:offset(range.start), self:offset(range["end"])
  local first = self:place(start)
  if start == stop then
    -- Where the last row has no ending, the end of the text is in that row, and what is added comes after it.
    first = (start == #self.text and start > 0) and self.n_rows or first
    return first, first
  end
  local last, column = self:place(stop)
  return first, column > 0 and last + 1 or last
end

--- Return whether some bytes are UTF-8, the only text that a server can be sent.
---@param text string
---@return boolean
function M.is_utf8(text)
  local from = 1
  while true do
    from = text:find("[\128-\255]", from)
    if not from then
      return true
    end
    local lead, second = text:byte(from, from + 1)
    local length = lead >= 0xF0 and 4 or lead >= 0xE0 and 3 or 2
    local is_lead = lead >= 0xC2 and lead <= 0xF4
    local tail = text:sub(from + 1, from + length - 1)
    if not is_lead or #tail < length - 1 or tail:find("[^\128-\191]") then
      return false
    end
    -- Too long a form, a surrogate, or past the last code point.
    local bad = (lead == 0xE0 and second < 0xA0)
      or (lead == 0xED and second > 0x9F)
      or (lead == 0xF0 and second < 0x90)
      or (lead == 0xF4 and second > 0x8F)
    if bad then
      return false
    end
    from = from + length
  end
end

return M
