internal import Foundation
internal import TapeTestSupport
package import Wiretape

/// A transport, used directly.
package struct TransportWay: Way {
    package let kind: WayKind
    private let transport: any Transport

    package init(_ kind: WayKind, _ transport: any Transport) {
        self.kind = kind
        self.transport = transport
    }

    package func lines(of behaviour: Behaviour, at origin: String) async throws -> [String] {
        let log = EventLog()
        let folder = try TemporaryFolder()
        let task = self.transport.start(try self.request(behaviour, to: origin, in: folder)) { log.receive($0) }
        if let count = behaviour.cancelsAfter, !self.kind.waitsForTheEnd {
            await log.wait(for: count)
            task.cancel()
        }
        await log.wait()
        withExtendedLifetime((task, folder)) {}
        return log.lines(of: behaviour, at: origin)
    }

    private func request(_ behaviour: Behaviour, to origin: String, in folder: TemporaryFolder) throws -> TransportRequest {
        let body: RequestBody
        switch behaviour.body {
        case .none: body = .none
        case .data(let data): body = .data(data)
        // A stream has been spooled before it reaches a transport.
        case .file(let data), .stream(let data):
            try folder.write(Array(data), to: "body")
            body = .file(URL(fileURLWithPath: folder.file("body")), size: data.count)
        }
        return .make(behaviour.method, origin + behaviour.path, body: body, headers: behaviour.headers)
    }
}
