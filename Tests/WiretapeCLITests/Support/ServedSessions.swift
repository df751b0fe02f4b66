import Foundation
import TapeTestSupport

/// `wiretape serve` on free ports, with its own token and folder.
final class ServedSessions {
    static let token = "a-token-for-these-tests"

    let folder: TemporaryFolder
    let program: ExternalProgram
    /// In the form HOST:PORT.
    let shared: String
    let control: String

    init(in folder: TemporaryFolder? = nil) throws {
        let folder = try folder ?? TemporaryFolder()
        let program = try Wiretape.start(["serve", "--folder", folder.path], environment: ["WIRETAPE_TOKEN": Self.token])
        do {
            let addresses = try program.find("its addresses") { text -> [String]? in
                let found = text.components(separatedBy: "http://").dropFirst().map {
                    String($0.prefix { $0.isNumber || $0 == "." || $0 == ":" })
                }
                return found.count == 2 && text.hasSuffix("/sessions\n") ? found : nil
            }
            (self.shared, self.control) = (addresses[0], addresses[1])
        } catch {
            program.stop()
            throw error
        }
        self.folder = folder
        self.program = program
    }

    deinit { self.program.stop() }

    /// Calls the control API with curl.
    func ask(_ method: String, _ path: String, body: String? = nil) throws -> [String: Any] {
        var arguments = ["-q", "-sS", "--max-time", "30", "-X", method, "-H", "Authorization: Bearer \(Self.token)"]
        if let body { arguments += ["-H", "Content-Type: application/json", "-d", body] }
        let end = try ExternalProgram.run(try Programs.find("curl"), arguments + ["http://\(self.control)\(path)"])
        guard end.status == 0, let object = try JSONSerialization.jsonObject(with: Data(end.output)) as? [String: Any] else {
            throw TestProblem("\(method) \(path): \(end.errors) \(end.outputText)")
        }
        return object
    }

    /// Fetches through a proxy with curl, and returns the body, or the status if it is not 200.
    func get(_ url: String, through proxy: String) throws -> String {
        let arguments = ["-q", "-sS", "--max-time", "30", "--noproxy", "", "-x", proxy, "-w", "\n%{http_code}", url]
        let end = try ExternalProgram.run(try Programs.find("curl"), arguments)
        let parts = end.outputText.components(separatedBy: "\n")
        return parts.last == "200" ? parts.dropLast().joined(separator: "\n") : parts.last ?? end.errors
    }
}
