import type { McpAppCapabilities } from '../session/customization.ts'

/**
 * An `mcp://` channel has no state: MCP messages travel on it as they are, with `channel` in their params. What may
 * be said there is what the server's customization advertises; everything else is an unknown method.
 */
export const mcpMethods: { readonly [C in keyof McpAppCapabilities]-?: readonly string[] } = {
  serverTools: ['tools/list', 'tools/call', 'notifications/tools/list_changed'],
  serverResources: [
    'resources/list',
    'resources/templates/list',
    'resources/read',
    'notifications/resources/list_changed',
  ],
  logging: ['logging/setLevel', 'notifications/message'],
  sampling: ['sampling/createMessage'],
}

export function mcpServes(capabilities: McpAppCapabilities, method: string): boolean {
  const advertised = Object.keys(mcpMethods) as (keyof McpAppCapabilities)[]
  return advertised.some((name) => {
    const capability = capabilities[name]
    if (!capability || !mcpMethods[name].includes(method)) return false
    return (
      !method.endsWith('/list_changed') || ('listChanged' in capability && capability.listChanged === true)
    )
  })
}
