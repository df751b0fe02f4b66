import Foundation
import Platform
import TapeTestSupport

/// The locations of the programs that these tests start.
enum Programs {
    /// The folder that holds the test bundle and the products of the package.
    private static let built: String = {
        let arguments = CommandLine.arguments
        #if os(Linux)
        let bundle = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? arguments[0]
        #else
        let option = arguments.firstIndex(of: "--test-bundle-path").map { arguments[arguments.index(after: $0)] }
        let bundle = option ?? arguments.first { $0.contains(".xctest") } ?? arguments[0]
        #endif
        let path = bundle.components(separatedBy: "/").reversed().drop { !$0.contains(".xctest") }.dropFirst().reversed().joined(
            separator: "/")
        return path.isEmpty ? (bundle as NSString).deletingLastPathComponent : path
    }()

    static func wiretape() throws -> String { try self.builtProgram("wiretape") }
    static func demoOrigin() throws -> String { try self.builtProgram("DemoOrigin") }

    /// A path in the build folder, for files that may outlive a run of the tests.
    static func besideTests(_ name: String) -> String { "\(self.built)/\(name)" }

    private static func builtProgram(_ name: String) throws -> String {
        let path = "\(self.built)/\(name)"
        guard access(path, X_OK) == 0 else {
            throw TestProblem("there is no \"\(path)\": build it with \"swift build --build-tests\"")
        }
        return path
    }

    static func isInstalled(_ name: String) -> Bool { (try? self.find(name)) != nil }

    /// A program of the system, looked up in PATH and in the folders that are often missing from the PATH of users other than root.
    static func find(_ name: String) throws -> String {
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let folders = path.components(separatedBy: ":") + ["/usr/sbin", "/sbin"]
        for folder in folders {
            let program = "\(folder)/\(name)"
            if access(program, X_OK) == 0 { return program }
        }
        throw TestProblem("\"\(name)\" is not installed: \"scripts/setup.sh test\" installs what the tests need")
    }

    /// A file next to these tests.
    static func fixture(_ name: String) -> String { self.repository + "/Tests/WiretapeCLITests/Fixtures/" + name }

    /// The folder of the package.
    static let repository: String = #filePath.components(separatedBy: "/").dropLast(4).joined(separator: "/")
}
