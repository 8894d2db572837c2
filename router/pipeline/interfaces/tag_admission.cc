// SPDX-License-Identifier: BSD-3-Clause
#include "router/pipeline/interfaces/tag_admission.h"

namespace surety {

TagAdmission::TagAdmission(const config::Config& config) : ports_(config.ports.size()) {
  for (const config::Rule& rule : config.rules) {
    const config::Match& m = rule.match;
    if (m.interface) continue;  // the tags belong to the interface
    for (std::size_t p = 0; p < ports_.size(); ++p) {
      const bool customer = config.ports[p].trust == config::Port::Trust::customer;
      if (m.port ? *m.port != p : !customer) continue;  // condition of Classifier
      if (m.vlan && m.inner_vlan)
        ports_[p].pairs.insert(pair(*m.vlan, *m.inner_vlan));
      else if (m.vlan)
        ports_[p].single.set(*m.vlan);
      else if (rule.per == config::Rule::Per::vlan)
        ports_[p].single.set();
    }
  }
}

}  // namespace surety
