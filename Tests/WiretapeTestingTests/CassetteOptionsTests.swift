import Testing
import Wiretape

@testable import WiretapeTesting

struct CassetteOptionsTests {
    @Test func whatIsSaidGoesBeforeWhatOthersSay() {
        var settings = CassetteSettings()
        settings.ignore = ["query:ts"]
        let outer = CassetteOptions(mode: .all, unused: .allow, order: .strict, settings: settings)
        let inner = CassetteOptions(mode: .none)
        let merged = inner.over(outer)
        #expect(merged.mode == .none)
        #expect(merged.unused == .allow)
        #expect(merged.order == .strict)
        #expect(merged.settings?.ignore == ["query:ts"])
        #expect(CassetteOptions().over(outer).mode == .all)
        #expect(CassetteOptions(unused: .fail).over(outer).unused == .fail)
        #expect(CassetteOptions(order: .any).over(outer).order == .any)
    }
}
