// Imports that only the bundler resolves: the URL of a worker's script, and style sheets.
declare module '*?worker&url' {
  const url: string
  export default url
}
declare module '*.css' {}
