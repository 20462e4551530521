import { part } from '../kernel/part.ts'
import { Tokens, tokensOf } from './tokens.ts'
import { notifyExpired } from './notices.ts'

/** The tokens that users have given to agents and MCP servers. */
export const tokens = part<Tokens>({
  name: 'tokens',
  key: tokensOf,
  open: (core) => new Tokens(core.world, core.limits, (...given) => notifyExpired(core, ...given)),
  clientCame: (self, { principal }) => self.linkOpened(principal),
  clientLeft: (self, { principal }) => self.linkClosed(principal),
})
