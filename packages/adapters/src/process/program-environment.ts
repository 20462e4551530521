import { markerVariable, allowedOnWindows } from './environment.ts'
import type { Variables } from './environment.ts'

/**
 * Names of the host variables that every agent and MCP server gets (S-38): variables that every program needs, and settings of
 * proxies and certificates. The socket of the user's SSH agent is none of them: whoever has it can log in as the user.
 */
const passed =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TERM|XDG_[A-Z_]+|DISPLAY|WAYLAND_DISPLAY|(?:https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR))$/i

/**
 * Returns the environment of an agent or an MCP server: the host variables of the list above, the host variables whose names
 * match `own`, and the configured variables. The program gets no other variable of the host.
 */
export function programEnvironment(
  host: Variables,
  { own, configured, mark }: { readonly own: RegExp; readonly configured: Variables; readonly mark: string },
): { [name: string]: string } {
  const isPassed = (name: string) =>
    passed.test(name) || own.test(name) || (process.platform === 'win32' && allowedOnWindows.test(name))
  const variables = Object.entries({ ...host, ...configured }).filter(
    ([name]) => isPassed(name) || Object.hasOwn(configured, name),
  )
  const environment = variables.flatMap(([name, value]) =>
    value === undefined ? [] : [[name, value] as const],
  )
  return { ...Object.fromEntries(environment), [markerVariable]: mark }
}
