import ClientTestSupport
import Foundation
import TapeTestSupport
import Wiretape

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One behaviour in one way: with the system's own URLSession, which follows the proxy in the environment, or with a way of Wiretape that
/// may end the process.
struct BehaviourRun {
    private let way: WayKind
    private let behaviour: Behaviour
    private let origin: String

    init(_ arguments: inout Arguments) throws {
        guard let word = arguments.next(), let name = arguments.next(), let origin = arguments.next() else {
            throw ProbeError("behave needs a way, the name of a behaviour and the URL of its origin")
        }
        guard let behaviour = Behaviour.named(name) else { throw ProbeError("there is no behaviour \"\(name)\": see Behaviours.swift") }
        guard let way = WayKind(rawValue: word) else { throw ProbeError("\"\(word)\" is no way: see WayKind.swift") }
        (self.way, self.behaviour, self.origin) = (way, behaviour, origin)
        try arguments.end()
    }

    func run() async throws -> String {
        let folder = try TemporaryFolder()
        let lines = try await self.chosen(folder).lines(of: self.behaviour, at: self.origin)
        return String(decoding: try JSONEncoder().encode(lines), as: UTF8.self)
    }

    private func chosen(_ folder: TemporaryFolder) throws -> any Way {
        let cassette = folder.file("a.json")
        switch self.way {
        case .proxy, .proxyReplay, .proxyReplayOfClient: return SessionWay(self.way, .ephemeral)
        case .live: return TransportWay(self.way, LiveTransport.shared)
        case .recording:
            return TransportWay(self.way, RecordingTransport(try Cassette(cassette, mode: .once), around: LiveTransport.shared))
        case .facade: return FacadeWay(self.way, try Cassette(cassette, mode: .once).transport)
        case .adapter: return SessionWay(self.way, .recording(try Cassette(cassette, mode: .once)))
        case .replay, .stub, .facadeReplay, .facadeStub, .adapterReplay, .replayOfProxy:
            throw ProbeError("\"\(self.way.rawValue)\" has no need of a process of its own: run it among the tests")
        }
    }
}
