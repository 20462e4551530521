/** The reducer case of `configChanged` on all channels: merges or replaces the values of an existing config. */
export function configChanged<S extends { readonly config?: { readonly values: Record<string, unknown> } }>(
  state: S,
  action: { readonly config: Record<string, unknown>; readonly replace?: boolean },
): S {
  if (!state.config) return state
  const values = action.replace ? { ...action.config } : { ...state.config.values, ...action.config }
  return { ...state, config: { ...state.config, values } }
}
