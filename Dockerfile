# The host on Debian, for an ordinary user. Agents are not in it: add them in an image that begins with this one.
#
#     docker build -t atrium .
#
# A container is reached from outside if its host listens on all addresses, which needs a certificate: see compose.yaml.

FROM node:22-bookworm-slim AS build
WORKDIR /src
COPY . .
RUN npm ci --ignore-scripts && npm run -s build
# The package of the command has the code of all others.
RUN mkdir /out && cd packages/cli && npm pack --pack-destination /out

FROM node:22-bookworm-slim
# git shows and undoes the changes of turns. The certificates verify model providers and databases.
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git \
  && rm -rf /var/lib/apt/lists/*
COPY --from=build /out /tmp/out
RUN npm install --global --ignore-scripts /tmp/out/*.tgz && rm -rf /tmp/out /root/.npm
RUN install --directory --owner=node --group=node --mode=700 /data
USER node
ENV ATRIUM_HOME=/data ATRIUM_PORT=7433
VOLUME /data
EXPOSE 7433
# A standby is healthy, too. `/readyz` tells which node is the owner.
HEALTHCHECK --interval=10s --timeout=5s --start-period=30s CMD ["node", "-e", "\
  const { protocol, get } = process.env.ATRIUM_TLS_CERT ? { protocol: 'https', ...require('https') } : { protocol: 'http', ...require('http') }; \
  get(protocol + '://127.0.0.1:' + process.env.ATRIUM_PORT + '/healthz', { rejectUnauthorized: false }, \
    (answer) => process.exit(answer.statusCode === 200 ? 0 : 1)).on('error', () => process.exit(1))"]
ENTRYPOINT ["atrium"]
CMD ["serve"]
