/* Material loads its search index with every page; here its request waits until the search field is used. */
(() => {
  const isIndex = url => /search\/search_index\.js(on)?$/.test(url)
  const wanted = new Promise(resolve => document.addEventListener("focusin", event => {
    if (event.target.classList.contains("md-search__input")) resolve()
  }))
  const { open, send } = XMLHttpRequest.prototype
  XMLHttpRequest.prototype.open = function (method, url, ...rest) {
    this.waits = isIndex(url)
    open.call(this, method, url, ...rest)
  }
  XMLHttpRequest.prototype.send = function (body) {
    this.waits ? wanted.then(() => send.call(this, body)) : send.call(this, body)
  }
  const append = document.head.appendChild /* of a script, where pages are opened from a folder */
  document.head.appendChild = node => {
    isIndex(node.src || "") ? wanted.then(() => append.call(document.head, node)) : append.call(document.head, node)
    return node
  }
})()
