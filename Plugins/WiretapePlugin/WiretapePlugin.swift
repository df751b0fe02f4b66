import Foundation
import PackagePlugin

/// `swift package wiretape`: records and maintains the cassettes of a package's tests.
///
/// Runs `swift test` to learn what the tests record, and which cassettes they use.
@main struct WiretapePlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        let command = try WiretapeCommand(arguments)
        let inventory = CassetteInventory(package: context.package.directoryURL, environment: ProcessInfo.processInfo.environment)
        switch command {
        case .help: print(WiretapeCommand.usage)
        case .inspect(let file): try self.inspect(file, in: context)
        case .record(let filters, let mode, let rest):
            try self.record(filters, mode: mode, inventory, try TestRun(context, options: rest))
        case .status(let runs, let rest):
            let cassettes = try self.cassettes(inventory)
            let uses = runs ? try TestRun(context, options: rest).uses(inventory) : .unknown("the tests were not run")
            print(CassetteTable.text(cassettes, uses, now: Date()))
            if case .unknown(let reason) = uses, runs { throw PluginFailure("which cassettes are unused is not known: \(reason)") }
        case .prune(let removes, let rest):
            try self.prune(try self.cassettes(inventory), removes: removes, inventory, try TestRun(context, options: rest))
        }
    }

    private func cassettes(_ inventory: CassetteInventory) throws -> [CassetteFile] {
        let cassettes = inventory.cassettes()
        guard !cassettes.isEmpty else {
            throw PluginFailure(
                "there are no cassettes below \"\(inventory.package.path)\": record some with \"swift package wiretape record\"")
        }
        return cassettes
    }

    private func inspect(_ file: String, in context: PluginContext) throws {
        let url = URL(fileURLWithPath: file, relativeTo: context.package.directoryURL)
        let cassette = CassetteFile(url.standardizedFileURL, name: file)
        print(try cassette.contents.get().listing(name: file))
    }

    private func record(_ filters: [String], mode: String, _ inventory: CassetteInventory, _ run: TestRun) throws {
        let before = Set(inventory.cassettes().map(\.stamp))
        let succeeded = try run.test(filters, mode: mode)
        let recorded = inventory.cassettes().filter { !before.contains($0.stamp) }
        print(recorded.isEmpty ? "wiretape: nothing was recorded" : "wiretape: recorded")
        for cassette in recorded { print("  \(cassette.summary)") }
        guard succeeded else { throw PluginFailure("tests failed, and those record nothing: see their issues above") }
    }

    private func prune(_ cassettes: [CassetteFile], removes: Bool, _ inventory: CassetteInventory, _ run: TestRun) throws {
        let uses = try run.uses(inventory)
        if case .unknown(let reason) = uses {
            throw PluginFailure("nothing was removed, because which cassettes are unused is not known: \(reason)")
        }
        let orphans = cassettes.filter { uses.state(of: $0) == .orphaned }
        let unknown = cassettes.count { uses.state(of: $0) == .unknown }
        if unknown > 0 {
            print("wiretape: \(counted(unknown, "cassette")) stay, as nothing proves whether they are used; \"status\" lists them")
        }
        guard !orphans.isEmpty else { return print("wiretape: no cassette is proven unused") }
        print("wiretape: no test uses")
        for cassette in orphans { print("  \(cassette.summary)") }
        guard removes else { return print("wiretape: add --yes to move \(orphans.count == 1 ? "it" : "them") to a trash folder") }
        let trash = run.trash(Date())
        for cassette in orphans { try cassette.move(to: trash) }
        print("wiretape: moved \(orphans.count) to \(trash.path); delete that folder when all is well")
    }
}
