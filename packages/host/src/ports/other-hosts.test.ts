import { memoryHosts } from '../../test/fakes/memory-hosts.ts'
import { otherHostsContract } from './contracts/other-hosts.contract.ts'

otherHostsContract('hosts in memory', async () => ({ directory: '/work', host: memoryHosts() }))
