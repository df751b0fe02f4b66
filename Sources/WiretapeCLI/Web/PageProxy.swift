internal import CassetteModel
internal import CassettePlayback
internal import CassetteRun
internal import CassetteTools
internal import TapeBytes
internal import TapeInspector
internal import TapeProxy
internal import TapeRecorder

/// A recording that a person starts from the page: a proxy on a free port of this machine, with Wiretape's own authority, which clients may
/// already trust.
enum PageProxy {
    static func start(_ path: String, upstreamTLS: UpstreamTLSOptions, ports: ClosedPorts) throws -> PageRecording {
        let name = path.split(separator: "/").last.map(String.init) ?? path
        let tls = try TLSOptions.parse([])
        let place = try tls.authority.place()
        let open = OpenExchanges()
        let counts = RunCounts()
        let cassette = try OpenCassette(
            RunPlan(path, mode: .all), version: Version.current, digest: { FastSHA256() }, notify: { Terminal.error.complain($0) })
        do {
            var configuration = ProxyConfiguration(cassetteName: name, loops: .own(1))
            configuration.tls = try tls.settings(in: place, upstream: upstreamTLS) { Terminal.error.complain($0) }
            configuration.chain = try upstreamTLS.proxies.chain { Terminal.error.complain($0) }
            configuration.closedPorts = ports.all
            configuration.watch = { open.take($0) }
            let server = try ProxyServer.start(configuration, session: cassette.session, recorder: cassette.recorder) {
                Terminal.error.complain(VisibleText.line($0))
            }
            ports.add(.init(host: configuration.host, port: server.port))
            counts.follow({ server.counts }, cassette.recorder, match: { try server.match(by: $0) })
            var run = InspectedRun(
                command: "record", name: name, session: cassette.session, recorded: nil, counts: counts, open: open)
            run.pauses(cassette.session)
            return PageRecording(address: server.address, run: run) {
                server.stop()
                defer { place.temporary?.remove() }
                _ = try cassette.close()
            }
        } catch {
            try? cassette.abandon()
            place.temporary?.remove()
            throw CassetteError(.unwritable, CommandEnd.message(of: error) ?? "\(error)", cause: error)
        }
    }
}
