import { bugIn } from '../simulate/bugs/bug.ts'
import type { Bug } from '../simulate/bugs/bug.ts'

/** Bugs of hosts with several nodes. The simulation must find each of them. */
export const clusterBugs: readonly Bug[] = [
  bugIn('adapters', 'the fence is left out', 'store/memory-lease', [
    'if (epoch !== this.#epoch)\n            throw',
    'if (false)\n            throw',
  ]),
  bugIn('proof', 'the lease ends by the clock of a node', 'cluster/database', [
    'now() {\n        return this.#elapsed();',
    'now() {\n        return this.#asking?.wall() ?? 0;',
  ]),
  bugIn('host', 'effects run on after the lease', 'cluster/ownership', [
    'const held = await inTime(',
    'effects.confirm(mark);\n            const held = await inTime(',
  ]),
  bugIn('proof', 'a commit of unknown outcome is applied twice', 'cluster/remote-store', [
    'if (await isStored(batch))',
    'if (false)',
  ]),
  bugIn('proof', 'a take-over reads what is not committed', 'cluster/database', [
    'return this.store.records.list(prefix);',
    `const all = new Map(await this.store.records.list(prefix));
        for (const { records } of this.open)
            for (const [key, text] of records)
                if (text !== undefined && key.startsWith(prefix)) all.set(key, text);
        return [...all];`,
  ]),
]
