/** The environment of a process whose clock is ahead of the real one, as if it was started so much later. */
export function clockAhead(ms: number): NodeJS.ProcessEnv {
  const script = `const real = Date.now; Date.now = () => real() + ${ms}`
  return { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(script)}` }
}
