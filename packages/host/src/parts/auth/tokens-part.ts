import { DeferredResponse } from '../../kernel/deferred-response.ts'
import { part } from '../../kernel/part.ts'
import { Tokens, tokensOf } from './tokens.ts'
import { authenticate } from './auth.ts'
import { authEffects, notifyExpired } from './notices.ts'

/** The tokens that users have given to agents and MCP servers. */
export const tokens = part<Tokens>({
  name: 'tokens',
  key: tokensOf,
  open: (core) => new Tokens(core.world, core.limits, (...given) => notifyExpired(core, ...given)),
  rules: {
    methods: {
      // An agent or an MCP server may need long to check the sign-in, and the client's later requests must not wait so long.
      authenticate: (core, link, params) =>
        new DeferredResponse(
          authenticate(core, link, params)
            .then(({ seq }) => core.log.reached(seq))
            .then(() => ({})),
        ),
    },
    effects: [authEffects.session, authEffects.chat],
  },
  clientCame: (self, { principal }) => self.linkOpened(principal),
  clientLeft: (self, { principal }) => self.linkClosed(principal),
})
