/** What `configChanged` does on any channel: nothing without a config, else merge or replace its values. */
export function configured<S extends { readonly config?: { readonly values: Record<string, unknown> } }>(
  state: S,
  action: { readonly config: Record<string, unknown>; readonly replace?: boolean },
): S {
  if (!state.config) return state
  const values = action.replace ? { ...action.config } : { ...state.config.values, ...action.config }
  return { ...state, config: { ...state.config, values } }
}
