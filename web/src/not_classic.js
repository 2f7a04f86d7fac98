// Pyodide rejects classic workers, and finds out by calling `importScripts` when it is loaded; a module worker made of a
// Blob does not start from a file. So this is imported before it.
self.importScripts = undefined;
