import { command, part } from '../../kernel/part.ts'
import type { Authorizer } from '../../ports/authorizer.ts'
import { BrowserSignIns } from './browser-sign-ins.ts'
import { BeginSignInParams, EndSignInParams } from './extensions.ts'
import { signInsOf } from './sign-ins.ts'
import type { SignIns } from './sign-ins.ts'

interface Ports {
  /** Absent: clients get the tokens for resources themselves. */
  readonly authorizer?: Authorizer | undefined
}

/** Sign-ins with a browser. */
export const signIns = part<SignIns | undefined, Ports>({
  name: 'sign-ins',
  key: signInsOf,
  open: (core, { authorizer }) => authorizer && new BrowserSignIns(authorizer, core),
  commands: {
    'x-atrium/beginSignIn': command('own', BeginSignInParams, (self, params, link) =>
      self.begin(link, params),
    ),
    'x-atrium/endSignIn': command('own', EndSignInParams, (self, params, link) => self.end(link, params)),
  },
})
