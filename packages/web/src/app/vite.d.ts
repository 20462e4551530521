// Addresses that the bundler fills in, and styles that it collects.
declare module '*?worker&url' {
  const url: string
  export default url
}
declare module '*.css' {}
