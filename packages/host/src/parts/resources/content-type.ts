/** Returns the MIME type of a file by its extension; undefined if the extension is unknown. */
export function contentTypeOf(path: string): string | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1)
  const dot = name.lastIndexOf('.')
  return dot <= 0 ? undefined : byExtension.get(name.slice(dot + 1).toLowerCase())
}

const byExtension = new Map(
  Object.entries({
    'text/plain': 'txt log ini cfg conf env diff patch',
    'text/markdown': 'md markdown',
    'text/html': 'html htm',
    'text/css': 'css',
    'text/csv': 'csv',
    'text/javascript': 'js mjs cjs',
    'text/x-typescript': 'ts mts cts tsx',
    'text/x-python': 'py',
    'text/x-shellscript': 'sh bash zsh',
    'text/x-c': 'c h cc cpp hpp',
    'text/x-rust': 'rs',
    'text/x-go': 'go',
    'text/x-java': 'java kt',
    'application/json': 'json',
    'application/yaml': 'yaml yml',
    'application/toml': 'toml',
    'application/xml': 'xml',
    'application/pdf': 'pdf',
    'application/zip': 'zip',
    'application/gzip': 'gz tgz',
    'application/wasm': 'wasm',
    'image/png': 'png',
    'image/jpeg': 'jpg jpeg',
    'image/gif': 'gif',
    'image/webp': 'webp',
    'image/svg+xml': 'svg',
    'audio/mpeg': 'mp3',
    'audio/wav': 'wav',
    'video/mp4': 'mp4',
    'font/woff2': 'woff2',
  }).flatMap(([type, extensions]) => extensions.split(' ').map((extension) => [extension, type] as const)),
)
