import Foundation
import PackagePlugin

/// Runs the package's tests with `swift test`.
///
/// `packageManager.test` cannot set their environment.
struct TestRun {
    private let swift: URL
    private let work: URL
    /// The options of every run.
    private let common: [String]
    private let options: [String]

    init(_ context: PluginContext, options: [String]) throws {
        self.swift = try context.tool(named: "swift").url
        self.work = context.pluginWorkDirectoryURL
        self.options = options
        // "swift package" holds the lock of the build folder until the plugin ends, so waiting for it would never end. It builds nothing
        // itself meanwhile.
        self.common = ["--package-path", context.package.directoryURL.path, "--ignore-lock"] + Self.scratch(self.work) + Self.sandbox
    }

    /// The build folder: the plugin's own folder is in its "plugins".
    private static func scratch(_ work: URL) -> [String] {
        var folder = work
        while folder.path != "/" {
            defer { folder.deleteLastPathComponent() }
            if folder.lastPathComponent == "plugins" { return ["--scratch-path", folder.deletingLastPathComponent().path] }
        }
        return []
    }

    /// A sandbox cannot be created inside the plugin's sandbox.
    private static var sandbox: [String] {
        #if os(macOS)
        ["--disable-sandbox"]
        #else
        []
        #endif
    }

    /// Shows what the tests print.
    ///
    /// - Returns: whether all passed.
    func test(_ filters: [String], mode: String) throws -> Bool {
        try self.run(["test"] + self.common + self.options + filters.flatMap { ["--filter", $0] }, ["WIRETAPE_MODE": mode], output: nil)
            == 0
    }

    /// Replays all tests. Their output is shown if they fail.
    func uses(_ inventory: CassetteInventory) throws -> CassetteUses {
        if let option = WiretapeCommand.selection(in: self.options) {
            return .unknown("\(option) leaves out tests")
        }
        let list = self.work.appendingPathComponent("used-cassettes")
        let log = self.work.appendingPathComponent("tests.log")
        try? FileManager.default.removeItem(at: list)
        print("wiretape: running the tests, which replay")
        let environment = ["WIRETAPE_MODE": "none", "WIRETAPE_USED_CASSETTES": list.path]
        guard try self.run(["test"] + self.common + self.options, environment, output: log) == 0 else {
            print(String(decoding: (try? Data(contentsOf: log)) ?? Data(), as: UTF8.self))
            return .unknown("tests failed; what they print is above")
        }
        guard let used = try? Data(contentsOf: list) else { return .unknown("no test has used a cassette") }
        guard try self.run(["test", "list", "--skip-build"] + self.common + self.options, [:], output: log, isMixed: false) == 0 else {
            return .unknown("\"swift test list\" failed")
        }
        return try CassetteUses(
            list: used, tests: String(decoding: Data(contentsOf: log), as: UTF8.self), sources: inventory.sources())
    }

    /// A new folder for pruned cassettes, in the build folder.
    func trash(_ now: Date) -> URL {
        let name = ISO8601DateFormatter().string(from: now).replacingOccurrences(of: ":", with: "")
        return self.work.appendingPathComponent("trash").appendingPathComponent(name)
    }

    /// - Parameter isMixed: whether messages go into the output as well.
    private func run(_ arguments: [String], _ environment: [String: String], output: URL?, isMixed: Bool = true) throws -> Int32 {
        let process = Process()
        process.executableURL = self.swift
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        if let output {
            guard FileManager.default.createFile(atPath: output.path, contents: nil) else {
                throw PluginFailure("\"\(output.path)\" cannot be written: free disk space, or change its permissions")
            }
            let file = try FileHandle(forWritingTo: output)
            process.standardOutput = file
            if isMixed { process.standardError = file }
        }
        try process.run()
        process.waitUntilExit()
        return process.terminationStatus
    }
}
