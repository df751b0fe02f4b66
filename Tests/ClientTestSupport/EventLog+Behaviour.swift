internal import Foundation
internal import Wiretape

extension EventLog {
    /// The field of answers that the proxy gives instead of the origin.
    static let proxyError = "Wiretape-Error"

    /// The lines that are the same in all ways: the pieces of the body are joined, and the origin's port is left out.
    func lines(of behaviour: Behaviour, at origin: String) -> [String] {
        var lines: [String] = []
        var body = Data()
        var sent: String?
        var isOfProxy = false
        for event in self.events {
            if case .chunk(let data) = event {
                body += data
                continue
            }
            if !body.isEmpty {
                // Messages of the proxy or of libcurl are for people, and are not compared.
                if !isOfProxy { lines.append(Self.text(body)) }
                body = Data()
            }
            switch event {
            case .metrics, .chunk: break
            case .sent(let count, let total): sent = "sent \(count) of \(total)"
            case .interim(let status, _): lines.append("interim \(status)")
            case .head(let head):
                lines.append("status \(head.status)")
                isOfProxy = head.headers.contains(name: Self.proxyError)
                for name in behaviour.looksAt + [Self.proxyError] { lines += head.headers.values(for: name).map { "\(name): \($0)" } }
            case .trailers(let fields): lines += fields.map { "trailer \($0.name): \($0.value)" }
            case .end: lines.append("end")
            case .failed(let failure):
                if case .network(let kind) = failure.kind {
                    lines.append("failed \(kind.rawValue)")
                } else {
                    lines.append("failed \(failure.message)")
                }
            }
        }
        if behaviour.looksAtProgress { lines.insert(sent ?? "sent nothing", at: 0) }
        let authority = origin.replacingOccurrences(of: "http://", with: "")
        return lines.map { $0.replacingOccurrences(of: authority, with: "ORIGIN") }
    }

    /// A long body is shown by its length and a sum over its bytes.
    static func text(_ body: Data) -> String {
        guard body.count > 1000 else { return String(decoding: body, as: UTF8.self) }
        var sum: UInt64 = 0
        for byte in body { sum = (sum ^ UInt64(byte)) &* 0x0000_0100_0000_01b3 }
        return "\(body.count) bytes, \(String(sum, radix: 16))"
    }
}
