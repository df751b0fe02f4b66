import Testing
import Wiretape
@testable import WiretapeTesting

struct TestPlanTests {
    private static let environment = ["WIRETAPE_CASSETTES": "/tmp/Cassettes", "WIRETAPE_MODE": "all"]

    @Test func saysWhatIsLeftUnsaid() throws {
        let plan = try TestPlan(CassetteName("pets/upload"), CassetteOptions(), source: "", environment: Self.environment)
        #expect(plan.path == "/tmp/Cassettes/pets/upload.json")
        #expect(plan.mode == .all)
        #expect(!plan.isModeFixed)
        #expect(plan.unused == .fail)
        #expect(plan.settings.order == .any)
    }

    @Test func patternsAreAdded() throws {
        var settings = Cassette.Settings()
        settings.patterns = ["query:ts=[0-9]+"]
        let suite = CassetteOptions(patterns: ["json:/a=x"], settings: settings)
        let options = CassetteOptions(patterns: ["json:/id=[0-9]+"]).over(suite)
        let plan = try TestPlan(CassetteName("a"), options, source: "", environment: Self.environment)
        #expect(plan.settings.patterns == ["query:ts=[0-9]+", "json:/a=x", "json:/id=[0-9]+"])
    }

    @Test func orderGoesBeforeTheSettings() throws {
        var settings = Cassette.Settings()
        settings.order = .strict
        settings.ignore = ["query:ts"]
        for (order, wanted) in [(nil, ReplayOrder.strict), (.any, .any)] as [(ReplayOrder?, ReplayOrder)] {
            let options = CassetteOptions(mode: .once, unused: .allow, order: order, settings: settings)
            let plan = try TestPlan(CassetteName("a"), options, source: "", environment: Self.environment)
            #expect(plan.settings.order == wanted)
            #expect(plan.settings.ignore == ["query:ts"])
            #expect(plan.unused == .allow)
            #expect(plan.mode == .once)
            #expect(plan.isModeFixed)
        }
    }
}
