internal import Foundation

/// Says which requests of a session are taken, and which of those can only be refused.
///
/// A request that is not taken goes where it would have gone without us: to the network. So all are, but for what needs no network, and
/// for web sockets where the system lets no one but itself open them.
enum LoadingRule {
    enum TaskKind: Sendable, CaseIterable {
        case data, upload, download, other
    }

    static func takes(scheme: String?, upgrade: String?, on platform: URLSessionPlatform = .current) -> Bool {
        switch scheme?.lowercased() {
        // Read by the system itself, in this process.
        case "data", "file": false
        case "ws", "wss": platform == .linux
        default: platform == .linux || !Self.isWebSocket(upgrade)
        }
    }

    /// Why no answer can be given, in a sentence that ends with the next step; nil where one can.
    static func refusal(scheme: String?, upgrade: String?, task: TaskKind, on platform: URLSessionPlatform = .current) -> String? {
        if ["ws", "wss"].contains(scheme?.lowercased()) || Self.isWebSocket(upgrade) {
            return "web sockets are neither recorded nor replayed: take this request out of the test"
        }
        guard ["http", "https"].contains(scheme?.lowercased()) else {
            return "only http and https are recorded and replayed: take this request out of the test"
        }
        switch task {
        case .data, .upload: return nil
        case .download:
            guard platform == .linux else { return nil }
            return
                "a download task dies on Linux when anything but URLSession itself answers it: use a data task, a DownloadRequest of Wiretape, or the proxy (\"wiretape record\")"
        case .other: return "this kind of task is neither recorded nor replayed: use a data or an upload task"
        }
    }

    private static func isWebSocket(_ upgrade: String?) -> Bool {
        upgrade?.lowercased().split(separator: ",").contains { $0.trimmingCharacters(in: .whitespaces) == "websocket" } ?? false
    }
}
