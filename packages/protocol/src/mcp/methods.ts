import type { McpAppCapabilities } from '../session/customization.ts'

/**
 * The MCP methods of each capability. An `mcp://` channel has no state: it carries MCP messages unchanged, with
 * `channel` in their params. It carries only the methods of those capabilities that the customization of the server
 * advertises.
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

/**
 * Whether a server with these capabilities serves a method. A `list_changed` notification also needs `listChanged` in
 * its capability.
 */
export function mcpServes(capabilities: McpAppCapabilities, method: string): boolean {
  return keysOf(mcpMethods).some((name) => {
    const capability = capabilities[name]
    if (!capability || !mcpMethods[name].includes(method)) return false
    return (
      !method.endsWith('/list_changed') || ('listChanged' in capability && capability.listChanged === true)
    )
  })
}

/** The keys of an object with their type, which `Object.keys` does not give. */
function keysOf<T extends object>(value: T): readonly (keyof T)[] {
  const keys: (keyof T)[] = []
  for (const key in value) keys.push(key)
  return keys
}
