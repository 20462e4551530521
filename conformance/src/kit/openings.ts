import { beginningWith } from './rule.ts'

/** A test with a client that has initialized its connection. */
export const withClient = beginningWith((kit) => kit.join())

/** A test with a new session. */
export const withSession = beginningWith((kit) => kit.session())

/** A test with a new session and a client. */
export const inSession = beginningWith(async (kit) => ({
  session: await kit.session(),
  client: await kit.join(),
}))

/** A test with a new session and two clients. */
export const inSharedSession = beginningWith(async (kit) => ({
  session: await kit.session(),
  ann: await kit.join(),
  ben: await kit.join(),
}))
