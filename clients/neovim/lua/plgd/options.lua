--- What can be set, checked once: what is wrong is told and its default taken.

local M = {}

---@class plgd.Options
M.defaults = {
  -- The language server's command.
  cmd = { "plgd", "lsp" },
  -- "preview": hunks are shown and accepted one by one; "apply": the result is applied as it comes.
  review = "preview",
  -- "command": a buffer is attached by its first :Plgd; "open": every file is, when it is opened.
  attach = "command",
  -- A model's name; nil takes the daemon's default.
  model = nil,
  -- A drafting policy's name; nil takes the daemon's default.
  policy = nil,
  -- Instructions that show among the code actions: { { id = , title = , instruction = , languages = } }.
  presets = {},
  -- What a comment that is an instruction begins with; nil takes the server's default.
  comment_marker = nil,
  -- Mappings of a buffer while it has hunks to review; false for none.
  keymaps = {
    accept = "<Leader>pa",
    accept_all = "<Leader>pA",
    reject = "<Leader>pr",
    reject_all = "<Leader>pR",
    next = "]h",
    previous = "[h",
  },
}

local function is_list_of_strings(value)
  return vim.islist(value)
    and #value > 0
    and vim.iter(value):all(function(item)
      return type(item) == "string"
    end)
end

local function is_preset(value)
  return type(value) == "table"
    and vim.iter({ "id", "title", "instruction" }):all(function(key)
      return type(value[key]) == "string" and value[key] ~= ""
    end)
    and (value.languages == nil or is_list_of_strings(value.languages))
end

local function one_of(...)
  local allowed = { ... }
  return function(value)
    return vim.list_contains(allowed, value)
  end,
    '"' .. table.concat(allowed, '" or "') .. '"'
end

local function is_name(value)
  return type(value) == "string" and value ~= ""
end

---@type table<string, { [1]: (fun(value: any): boolean), [2]: string }>
local CHECKS = {
  cmd = { is_list_of_strings, "a list of strings, the program first" },
  review = { one_of("preview", "apply") },
  attach = { one_of("command", "open") },
  model = { is_name, "a name" },
  policy = { is_name, "a name" },
  comment_marker = { is_name, "a string that is not empty" },
  presets = {
    function(value)
      return vim.islist(value) and vim.iter(value):all(is_preset)
    end,
    "a list of { id =, title =, instruction =, languages = {} }",
  },
}

-- The known key that looks most like a given one.
local function nearest(key, known)
  local best, best_score
  for name in pairs(known) do
    local score = vim.fn.matchfuzzypos({ name }, key)[3][1]
      or vim.fn.matchfuzzypos({ key }, name)[3][1]
      or (name:sub(1, 2) == key:sub(1, 2) and 0)
      or nil
    if score and (not best_score or score > best_score or (score == best_score and name < best)) then
      best, best_score = name, score
    end
  end
  return best
end

local function unknown(prefix, key, known)
  local name = type(key) == "string" and nearest(key, known)
  local hint = name and (", did you mean `%s%s`?"):format(prefix, name) or ""
  return ("there is no option `%s%s`%s"):format(prefix, key, hint)
end

local function check_keymaps(given, problems)
  if given == false then
    return {}
  elseif type(given) ~= "table" then
    problems[#problems + 1] = "`keymaps` must be a table, or false for none"
    return M.defaults.keymaps
  end
  local keymaps = vim.deepcopy(M.defaults.keymaps)
  for name, keys in vim.spairs(given) do
    if keymaps[name] == nil then
      problems[#problems + 1] = unknown("keymaps.", name, M.defaults.keymaps)
    elseif keys ~= false and not is_name(keys) then
      problems[#problems + 1] = ("`keymaps.%s` must be keys, or false for none"):format(name)
    else
      keymaps[name] = keys
    end
  end
  return keymaps
end

--- Check what a user set.
---@param given any
---@return plgd.Options options every one allowed
---@return string[] problems what was wrong, a sentence each
function M.check(given)
  local options, problems = vim.deepcopy(M.defaults), {}
  if given ~= nil and type(given) ~= "table" then
    return options, { "the options must be a table" }
  end
  local known = vim.tbl_extend("keep", { keymaps = true }, CHECKS)
  local keys = vim.tbl_keys(given or {})
  table.sort(keys, function(a, b)
    return tostring(a) < tostring(b)
  end)
  for _, key in ipairs(keys) do
    local check, value = CHECKS[key], given[key]
    if key == "keymaps" then
      options.keymaps = check_keymaps(value, problems)
    elseif not check then
      problems[#problems + 1] = unknown("", key, known)
    elseif not check[1](value) then
      problems[#problems + 1] = ("`%s` must be %s"):format(key, check[2])
    else
      options[key] = value
    end
  end
  return options, problems
end

--- The options in force, and what was wrong with those that were given.
---@type plgd.Options
M.current = vim.deepcopy(M.defaults)
---@type string[]
M.problems = {}

--- Put options in force.
---@param given any
function M.set(given)
  M.current, M.problems = M.check(given)
end

return M
