--- What `vim.lsp.enable("plgd")` starts.

return require("plgd.server").config()
