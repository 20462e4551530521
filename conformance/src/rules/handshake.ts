import { check } from '../kit/check.ts'
import type { Topic } from '../kit/rule.ts'

export const handshake: Topic = {
  name: 'handshake',
  rules: [
    {
      id: 'K10',
      title: 'initialize is answered with a version, a number and snapshots',
      source: 'connection commands: the fields of the answer to initialize',
      async run(kit) {
        const client = await kit.open()
        await client.must('initialize', { protocolVersions: [kit.version], clientId: client.clientId })
      },
    },
    {
      id: 'K11',
      title: 'ping is answered with null at any time, also before initialize',
      source: 'connection commands: ping needs no handshake',
      async run(kit) {
        const client = await kit.open()
        await client.must('ping')
        await client.initialize()
        await client.must('ping')
      },
    },
    {
      id: 'K12',
      title: 'what happens after the handshake is numbered above its serverSeq',
      source: 'numbers rise host-wide, and initialize tells where they stand',
      needs: 'session',
      async run(kit) {
        const session = await kit.session()
        const client = await kit.open()
        const { serverSeq = NaN } = await client.initialize()
        await client.subscribe(session)
        const echo = await client.retitle(session)
        check(echo.serverSeq > serverSeq, `a number above ${serverSeq}`, echo)
      },
    },
    {
      id: 'K13',
      title: 'the optional parts of initialize are taken: clientInfo, locale, capabilities, _meta',
      source: 'connection commands: what a client may say of itself',
      async run(kit) {
        await kit.join({
          clientInfo: { name: 'conformance', version: '1.0.0', title: 'Conformance' },
          locale: 'de-CH',
          capabilities: { mcpApps: {} },
          _meta: { 'x-conformance': true },
        })
      },
    },
  ],
}
