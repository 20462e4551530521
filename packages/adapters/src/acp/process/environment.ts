import { markerVariable, allowedOnWindows } from '../../process/environment.ts'
import type { Variables } from '../../process/environment.ts'

/**
 * Names of the host variables that every agent gets (S-38): variables that every program needs, and settings of proxies and
 * certificates.
 */
const passed =
  /^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|LANGUAGE|LC_[A-Z]+|TZ|TMPDIR|TERM|XDG_[A-Z_]+|SSH_AUTH_SOCK|DISPLAY|WAYLAND_DISPLAY|(?:https?|no|all)_proxy|NODE_EXTRA_CA_CERTS|SSL_CERT_(?:FILE|DIR))$/i

/**
 * Returns the environment of an agent: the host variables of the list above, the host variables whose names match `own`, and
 * the configured variables. The agent gets no other variable of the host.
 */
export function agentEnvironment(
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
